// The raster: points into pixels. Every pixel has the mean colour of its points, and is the
// stronger the more there are (by the logarithm): the order of the points does not matter.
"use strict";

// cells: count, red, green and blue of a pixel side by side, so that a point touches one
// place of the memory.
function makeRaster(width, height) {
  const cells = new Uint32Array(4 * width * height);
  return { width, height, cells, spare: new Uint32Array(cells.length) };
}

// How far the pixels of one point reach to the sides, for every row from -radius to radius.
function reachOf(radius) {
  return Int32Array.from({ length: 2 * radius + 1 }, (_, i) =>
    Math.min(radius, Math.floor(Math.sqrt(radius * radius + 1 - (i - radius) * (i - radius)))));
}

// Offsets of the cells of one point.
function stampOf(radius, width) {
  const stamp = [];
  reachOf(radius).forEach((reach, i) => {
    for (let b = -reach; b <= reach; b++) stamp.push(4 * ((i - radius) * width + b));
  });
  return Int32Array.from(stamp);
}

// view: {x, y: Uint16Array, toX, toY: [offset, factor] from q to pixels}
// paint: {at: Uint8Array, palette: [[r, g, b]], shown: [bool]}; only: (i) => bool, or null
function accumulate(raster, view, paint, radius, only) {
  const { width, height } = raster, n = view.x.length, stamp = stampOf(radius, width);
  raster.cells.fill(0);
  // Many points are cheaper put down as one pixel each, and all pixels widened together.
  const together = radius > 0 && n * stamp.length > 8 * width * height;
  const drawn = scatter(raster, view, paint, radius, together ? new Int32Array(1) : stamp, only);
  if (together) widen(raster, radius);
  const cells = raster.cells;
  let most = 0;
  for (let k = 0; k < cells.length; k += 4) if (cells[k] > most) most = cells[k];
  return { most, drawn };
}

function scatter(raster, view, paint, radius, stamp, only) {
  const { width, height, cells } = raster, X = view.x, Y = view.y, n = X.length;
  const [ox, fx] = view.toX, [oy, fy] = view.toY, at = paint.at;
  const shown = Uint8Array.from(paint.shown), colours = Uint8Array.from(paint.palette.flat());
  const right = width - radius, low = height - radius, stamped = stamp.length;
  let drawn = 0;
  for (let i = 0; i < n; i++) {
    const level = at[i];
    if (!shown[level] || (only && !only[i])) continue;
    const x = Math.floor(ox + fx * X[i]), y = Math.floor(oy + fy * Y[i]);
    if (x < radius || y < radius || x >= right || y >= low) continue;
    drawn++;
    const place = 4 * (y * width + x);
    const r = colours[3 * level], g = colours[3 * level + 1], b = colours[3 * level + 2];
    for (let s = 0; s < stamped; s++) {
      const k = place + stamp[s];
      cells[k]++; cells[k + 1] += r; cells[k + 2] += g; cells[k + 3] += b;
    }
  }
  return drawn;
}

// Give every pixel the sums of those within the stamp of a point around it.
function widen(raster, radius) {
  const { width, height, cells, spare } = raster, row = 4 * width;
  const line = new Uint32Array(row), reaches = reachOf(radius);
  spare.fill(0);
  for (let y = radius; y < height - radius; y++) {
    let from = y * row, to = from + row;  // the part of the row with points in it
    while (from < to && !cells[from]) from += 4;
    if (from === to) continue;
    while (!cells[to - 4]) to -= 4;
    from -= 4 * radius; to += 4 * radius;  // points keep that far from the margin
    let before = -1;
    for (let a = radius; a >= 0; a--) {  // rows a above and below reach as far
      const reach = 4 * reaches[radius + a], size = to - from;
      if (reach !== before) sumAlong(cells, from, to, reach, line);
      before = reach;
      for (let k = from - a * row, i = 0; i < size; k++, i++) spare[k] += line[i];
      if (!a) break;
      for (let k = from + a * row, i = 0; i < size; k++, i++) spare[k] += line[i];
    }
  }
  raster.cells = spare;
  raster.spare = cells;
}

// Write into line the sums of the cells that are at most `reach` before or after each.
function sumAlong(cells, from, to, reach, line) {
  let n = 0, r = 0, g = 0, b = 0;
  for (let ahead = from, i = -reach; ahead < to + reach; ahead += 4, i += 4) {
    if (ahead < to) {
      n += cells[ahead]; r += cells[ahead + 1]; g += cells[ahead + 2]; b += cells[ahead + 3];
    }
    const behind = ahead - 2 * reach - 4;
    if (behind >= from) {
      n -= cells[behind]; r -= cells[behind + 1]; g -= cells[behind + 2]; b -= cells[behind + 3];
    }
    if (i >= 0) { line[i] = n; line[i + 1] = r; line[i + 2] = g; line[i + 3] = b; }
  }
}

// Lay the raster over pixels (Uint32Array, as ImageData sees them); paper: [r, g, b].
function develop(raster, pixels, paper, most, least) {
  const cells = raster.cells, [pr, pg, pb] = paper;
  const strength = new Float32Array(most + 1), full = Math.log1p(most);
  for (let c = 1; c <= most; c++) strength[c] = least + (1 - least) * Math.log1p(c) / full;
  for (let p = 0, k = 0; p < pixels.length; p++, k += 4) {
    const c = cells[k];
    if (!c) continue;
    const a = strength[c], s = a / c, w = 1 - a;
    const r = w * pr + s * cells[k + 1], g = w * pg + s * cells[k + 2];
    const b = w * pb + s * cells[k + 3];
    pixels[p] = (0xff000000 | (b << 16) | (g << 8) | r) >>> 0;
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
