// The raster: points into pixels. Every pixel has the mean colour of its points, and is the
// stronger the more there are (by the logarithm): the order of the points does not matter.
"use strict";

function makeRaster(width, height) {
  const size = width * height;
  return {
    width, height,
    count: new Uint32Array(size),
    red: new Uint32Array(size), green: new Uint32Array(size), blue: new Uint32Array(size),
  };
}

// Offsets of the pixels of one point.
function stampOf(radius, width) {
  const stamp = [];
  for (let a = -radius; a <= radius; a++) {
    for (let b = -radius; b <= radius; b++) {
      if (a * a + b * b <= radius * radius + 1) stamp.push(a * width + b);
    }
  }
  return Int32Array.from(stamp);
}

// view: {x, y: Uint16Array, toX, toY: [offset, factor] from q to pixels}
// paint: {at: Uint8Array, palette: [[r, g, b]], shown: [bool]}; only: (i) => bool, or null
function accumulate(raster, view, paint, radius, only) {
  const { width, height, count, red, green, blue } = raster;
  count.fill(0); red.fill(0); green.fill(0); blue.fill(0);
  const stamp = stampOf(radius, width), X = view.x, Y = view.y, n = X.length;
  const [ox, fx] = view.toX, [oy, fy] = view.toY;
  const at = paint.at, shown = paint.shown;
  const reds = Uint8Array.from(paint.palette, c => c[0]);
  const greens = Uint8Array.from(paint.palette, c => c[1]);
  const blues = Uint8Array.from(paint.palette, c => c[2]);
  let most = 0, drawn = 0;
  for (let i = 0; i < n; i++) {
    const level = at[i];
    if (!shown[level] || (only && !only[i])) continue;
    const x = Math.floor(ox + fx * X[i]), y = Math.floor(oy + fy * Y[i]);
    if (x < radius || y < radius || x >= width - radius || y >= height - radius) continue;
    drawn++;
    const pixel = y * width + x, r = reds[level], g = greens[level], b = blues[level];
    for (let s = 0; s < stamp.length; s++) {
      const k = pixel + stamp[s], c = ++count[k];
      if (c > most) most = c;
      red[k] += r; green[k] += g; blue[k] += b;
    }
  }
  return { most, drawn };
}

// Lay the raster over pixels (Uint32Array, as ImageData sees them); paper: [r, g, b].
function develop(raster, pixels, paper, most, least) {
  const { count, red, green, blue } = raster;
  const strength = new Float32Array(most + 1), full = Math.log1p(most);
  for (let c = 1; c <= most; c++) strength[c] = least + (1 - least) * Math.log1p(c) / full;
  for (let k = 0; k < count.length; k++) {
    const c = count[k];
    if (!c) continue;
    const a = strength[c], s = a / c, w = 1 - a;
    const r = w * paper[0] + s * red[k], g = w * paper[1] + s * green[k];
    const b = w * paper[2] + s * blue[k];
    pixels[k] = (0xff000000 | (b << 16) | (g << 8) | r) >>> 0;
  }
}

// Shade pixels by how many of all rows lie there; the grid spans both components wholly.
function shade(pixels, width, height, density, toX, toY, paper, ink) {
  const { size, at } = density, cell = (p, [offset, factor]) =>
    Math.floor(((p + 0.5 - offset) / factor / 65535) * size);
  const columns = Int32Array.from({ length: width }, (_, x) => cell(x, toX));
  for (let y = 0; y < height; y++) {
    const row = cell(y, toY);
    if (row < 0 || row >= size) continue;
    for (let x = 0; x < width; x++) {
      const column = columns[x];
      if (column < 0 || column >= size || !at[row * size + column]) continue;
      const a = 0.15 + 0.6 * at[row * size + column] / 255;
      const [r, g, b] = paper.map((v, i) => v + a * (ink[i] - v));
      pixels[y * width + x] = (0xff000000 | (b << 16) | (g << 8) | r) >>> 0;
    }
  }
}

function blank(pixels, paper) {
  pixels.fill((0xff000000 | (paper[2] << 16) | (paper[1] << 8) | paper[0]) >>> 0);
}
