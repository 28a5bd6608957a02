// The map of the rows: two components in equal units, with zoom, pan, hover, box and lasso.
"use strict";

const MARGIN = { left: 54, right: 10, top: 10, bottom: 40 };
const CELLS = 256; // of the index for hovering, each way

// What all maps of a page share: the selection, the colours, who listens.
function makeShared(cloud) {
  const shared = { selected: null, colour: 0, shown: [], maps: [], onChange: [] };
  shared.changed = () => {
    for (const map of shared.maps) map.soon();
    for (const listener of shared.onChange) listener();
  };
  shared.paint = () => {
    const colour = cloud.colours[shared.colour];
    return { at: colour.at, palette: colour.palette, shown: shared.shown };
  };
  shared.setColour = index => {
    shared.colour = index;
    shared.shown = cloud.colours[index].palette.map(() => true);
    shared.changed();
  };
  shared.select = mask => {
    shared.selected = mask && mask.some(v => v) ? mask : null;
    shared.changed();
  };
  shared.shown = cloud.colours[0].palette.map(() => true);
  return shared;
}

class RowMap {
  constructor(figure, cloud, shared, axes) {
    this.figure = figure;
    this.canvas = figure.querySelector("canvas");
    this.tip = figure.querySelector(".tip");
    this.cloud = cloud;
    this.shared = shared;
    this.arrows = null; // {names, ends: [[...] per component]}, drawn where asked
    this.ellipses = false;
    this.tool = "pan";
    this.pointers = new Map();
    this.path = null; // of a box or a lasso on its way, in pixels of the canvas
    shared.maps.push(this);
    this.setAxes(axes[0], axes[1]);
    this.listen();
    new ResizeObserver(() => this.resize()).observe(figure);
    this.resize();
  }

  setAxes(x, y) {
    this.x = this.cloud.components[x];
    this.y = this.cloud.components[y];
    this.axes = [x, y];
    this.index = null;
    this.groups = null;
    this.fitted = false;
  }

  resize() {
    const ratio = Math.min(2, window.devicePixelRatio || 1);
    const wide = Math.max(280, this.figure.clientWidth);
    const high = Math.round(Math.min(Math.max(wide * 0.72, 320), 640));
    if (this.canvas.width === Math.round(wide * ratio) && this.fitted) return;
    this.ratio = ratio;
    this.canvas.width = Math.round(wide * ratio);
    this.canvas.height = Math.round(high * ratio);
    this.plot = {
      left: Math.round(MARGIN.left * ratio), top: Math.round(MARGIN.top * ratio),
      width: this.canvas.width - Math.round((MARGIN.left + MARGIN.right) * ratio),
      height: this.canvas.height - Math.round((MARGIN.top + MARGIN.bottom) * ratio),
    };
    this.image = new ImageData(this.plot.width, this.plot.height);
    this.pixels = new Uint32Array(this.image.data.buffer);
    this.raster = makeRaster(this.plot.width, this.plot.height);
    this.reset();
  }

  reset() {
    const { x, y, plot } = this;
    this.centre = [(x.low + x.high) / 2, (y.low + y.high) / 2];
    this.scale = Math.min(plot.width / (x.high - x.low), plot.height / (y.high - y.low)) * 0.94;
    this.whole = this.scale;
    this.fitted = true;
    this.soon();
  }

  // Pixels of the plot from whole numbers q, as [offset, factor].
  toX() {
    const { x, plot, centre, scale } = this;
    return [plot.width / 2 + (x.low - centre[0]) * scale, x.unit * scale];
  }

  toY() {
    const { y, plot, centre, scale } = this;
    return [plot.height / 2 - (y.low - centre[1]) * scale, -y.unit * scale];
  }

  // Values under a place of the canvas.
  valueAt(px, py) {
    const { plot, centre, scale } = this;
    return [
      centre[0] + (px - plot.left - plot.width / 2) / scale,
      centre[1] - (py - plot.top - plot.height / 2) / scale,
    ];
  }

  placeOf(vx, vy) {
    const { plot, centre, scale } = this;
    return [
      plot.left + plot.width / 2 + (vx - centre[0]) * scale,
      plot.top + plot.height / 2 - (vy - centre[1]) * scale,
    ];
  }

  soon() {
    this.waiting ||= requestAnimationFrame(() => { this.waiting = 0; this.draw(); });
  }

  radius() {
    const crowd = 2.2 + Math.log10((this.scale / this.whole) * 2e4 / this.cloud.n);
    return Math.max(0, Math.round(Math.min(4, Math.max(0, crowd)) * this.ratio));
  }

  draw() {
    const began = performance.now();
    const { plot, pixels, raster, shared } = this;
    const ink = coloursOf(this.figure);
    const view = { x: this.x.q, y: this.y.q, toX: this.toX(), toY: this.toY() };
    const radius = this.radius(), paint = shared.paint(), least = radius > 0 ? 0.6 : 0.35;
    blank(pixels, ink.paper);
    if (this.cloud.density && this.axes[0] === 0 && this.axes[1] === 1) {
      shade(pixels, plot.width, plot.height, this.cloud.density, view.toX, view.toY, ink.paper, ink.soft);
    }
    let seen;
    if (shared.selected) {
      const rest = { ...paint, palette: paint.palette.map(() => ink.soft) };
      const all = accumulate(raster, view, rest, radius, null);
      develop(raster, pixels, ink.paper, all.most, least / 2);
      seen = accumulate(raster, view, paint, radius, shared.selected);
      develop(raster, pixels, ink.paper, seen.most, least);
      seen = all;
    } else {
      seen = accumulate(raster, view, paint, radius, null);
      develop(raster, pixels, ink.paper, seen.most, least);
    }
    const context = this.canvas.getContext("2d");
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    context.putImageData(this.image, plot.left, plot.top);
    this.drawFrame(context, ink);
    if (this.ellipses) this.drawEllipses(context, ink);
    if (this.arrows) this.drawArrows(context, ink);
    if (this.path) this.drawPath(context, ink);
    this.last = { ms: performance.now() - began, drawn: seen.drawn, radius };
    return this.last;
  }

  drawFrame(context, ink) {
    const { plot, ratio } = this;
    const [left, high] = this.valueAt(plot.left, plot.top);
    const [right, low] = this.valueAt(plot.left + plot.width, plot.top + plot.height);
    const step = roundStep((right - left) / Math.max(3, plot.width / (70 * ratio)));
    context.save();
    context.font = `${12 * ratio}px ${FONT}`;
    context.lineWidth = 1;
    context.strokeStyle = ink.grid;
    context.fillStyle = ink.muted;
    context.textAlign = "center";
    context.textBaseline = "top";
    for (let v = Math.ceil(left / step) * step; v <= right; v += step) {
      const [px] = this.placeOf(v, 0);
      strokeLine(context, px, plot.top, px, plot.top + plot.height);
      context.fillText(shortNumber(v, step), px, plot.top + plot.height + 5 * ratio);
    }
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (let v = Math.ceil(low / step) * step; v <= high; v += step) {
      const [, py] = this.placeOf(0, v);
      strokeLine(context, plot.left, py, plot.left + plot.width, py);
      context.fillText(shortNumber(v, step), plot.left - 5 * ratio, py);
    }
    context.fillStyle = ink.ink;
    context.textAlign = "center";
    context.textBaseline = "bottom";
    context.fillText(this.x.title, plot.left + plot.width / 2, this.canvas.height - 4 * ratio);
    context.translate(4 * ratio, plot.top + plot.height / 2);
    context.rotate(-Math.PI / 2);
    context.textBaseline = "top";
    context.fillText(this.y.title, 0, 0);
    context.restore();
  }

  // Ellipses that hold 95 % of a normal group: (z - m)' S^-1 (z - m) = 5.99. Dashed: those that
  // hold its mean with 95 % confidence, by Hotelling's T².
  drawEllipses(context, ink) {
    const paint = this.shared.paint();
    this.groups = this.groups && this.groups.colour === this.shared.colour
      ? this.groups : { colour: this.shared.colour, list: groupMoments(this, paint) };
    this.clipped(context, () => {
      for (const g of this.groups.list) {
        if (!g || g.count < 3 || !paint.shown[g.level]) continue;
        const half = (g.xx + g.yy) / 2, root = Math.hypot((g.xx - g.yy) / 2, g.xy);
        const [px, py] = this.placeOf(g.x, g.y);
        const wide = Math.sqrt(half + root) * this.scale;
        const high = Math.sqrt(Math.max(half - root, 0)) * this.scale;
        const turn = -0.5 * Math.atan2(2 * g.xy, g.xx - g.yy);
        const mean = (g.count - 1) / g.count * (Math.pow(0.05, -2 / (g.count - 2)) - 1);
        context.strokeStyle = `rgb(${paint.palette[g.level].join(",")})`;
        context.lineWidth = 2 * this.ratio;
        for (const [reach, dashes] of [[Math.sqrt(5.991), []], [Math.sqrt(mean), [4, 3]]]) {
          context.setLineDash(dashes.map(d => d * this.ratio));
          context.beginPath();
          context.ellipse(px, py, reach * wide, reach * high, turn, 0, 7);
          context.stroke();
        }
        context.setLineDash([]);
      }
    });
  }

  // Arrows of the variables; their common length is free, so the longest fills the map.
  drawArrows(context, ink) {
    const xs = this.arrows.ends[this.axes[0]], ys = this.arrows.ends[this.axes[1]];
    if (!xs || !ys) return;
    let longest = 0;
    for (let j = 0; j < xs.length; j++) longest = Math.max(longest, Math.hypot(xs[j], ys[j]));
    const [ox, oy] = this.placeOf(0, 0);
    const reach = 0.42 * Math.min(this.plot.width, this.plot.height) / (longest || 1);
    this.clipped(context, () => {
      context.font = `${12 * this.ratio}px ${FONT}`;
      context.lineWidth = 1.5 * this.ratio;
      for (let j = 0; j < xs.length; j++) {
        const px = ox + xs[j] * reach, py = oy - ys[j] * reach;
        if (Math.hypot(px - ox, py - oy) < 6 * this.ratio) continue;
        context.strokeStyle = ink.ink;
        arrow(context, ox, oy, px, py, 6 * this.ratio);
        context.textAlign = xs[j] < 0 ? "right" : "left";
        context.textBaseline = ys[j] < 0 ? "top" : "bottom";
        haloed(context, this.arrows.names[j], px, py, ink, this.ratio);
      }
    });
  }

  drawPath(context, ink) {
    context.save();
    context.strokeStyle = ink.ink;
    context.lineWidth = 1.5 * this.ratio;
    context.setLineDash([5 * this.ratio, 4 * this.ratio]);
    context.beginPath();
    for (const [px, py] of outline(this.tool, this.path)) context.lineTo(px, py);
    context.closePath();
    context.stroke();
    context.restore();
  }

  clipped(context, work) {
    const { plot } = this;
    context.save();
    context.beginPath();
    context.rect(plot.left, plot.top, plot.width, plot.height);
    context.clip();
    work();
    context.restore();
  }

  // The row nearest to a place of the canvas, at most 12 pixels away; -1 for none.
  pick(px, py) {
    this.index ||= cellIndex(this.x.q, this.y.q);
    const { starts, order } = this.index, paint = this.shared.paint();
    const [ox, fx] = this.toX(), [oy, fy] = this.toY();
    const qx = (px - this.plot.left - ox) / fx, qy = (py - this.plot.top - oy) / fy;
    const reach = 12 * this.ratio, spanX = reach / fx, spanY = reach / -fy;
    const cell = q => Math.max(0, Math.min(CELLS - 1, q >> 8));
    let best = -1, nearest = reach * reach;
    for (let b = cell(qy - spanY); b <= cell(qy + spanY); b++) {
      const from = starts[b * CELLS + cell(qx - spanX)];
      const to = starts[b * CELLS + cell(qx + spanX) + 1];
      for (let j = from; j < to; j++) {
        const i = order[j];
        if (!paint.shown[paint.at[i]]) continue;
        const dx = (this.x.q[i] - qx) * fx, dy = (this.y.q[i] - qy) * fy;
        if (dx * dx + dy * dy < nearest) { nearest = dx * dx + dy * dy; best = i; }
      }
    }
    return best;
  }

  // The rows inside a polygon of values [[x, y], ...], those of hidden groups left out.
  inside(polygon) {
    const { x, y, cloud } = this, paint = this.shared.paint(), mask = new Uint8Array(cloud.n);
    const qs = polygon.map(([a, b]) => [(a - x.low) / x.unit, (b - y.low) / y.unit]);
    const lowX = Math.min(...qs.map(q => q[0])), highX = Math.max(...qs.map(q => q[0]));
    const lowY = Math.min(...qs.map(q => q[1])), highY = Math.max(...qs.map(q => q[1]));
    for (let i = 0; i < cloud.n; i++) {
      const a = x.q[i], b = y.q[i];
      if (a < lowX || a > highX || b < lowY || b > highY || !paint.shown[paint.at[i]]) continue;
      mask[i] = qs.length === 4 && this.tool !== "lasso" ? 1 : +within(a, b, qs);
    }
    return mask;
  }

  box(x0, y0, x1, y1) {
    return this.inside([[x0, y0], [x1, y0], [x1, y1], [x0, y1]]);
  }

  zoom(factor, px, py) {
    const [vx, vy] = this.valueAt(px, py);
    this.scale *= factor;
    const [wx, wy] = this.valueAt(px, py);
    this.centre = [this.centre[0] + vx - wx, this.centre[1] + vy - wy];
    this.soon();
  }

  pan(dx, dy) {
    this.centre = [this.centre[0] - dx / this.scale, this.centre[1] + dy / this.scale];
    this.soon();
  }

  listen() {
    const { canvas } = this;
    const at = e => {
      const box = canvas.getBoundingClientRect();
      return [(e.clientX - box.left) * this.ratio, (e.clientY - box.top) * this.ratio];
    };
    canvas.addEventListener("wheel", e => {
      e.preventDefault();
      const power = Math.max(-1, Math.min(1, -e.deltaY / 300));
      this.zoom(Math.exp(power), ...at(e));
    }, { passive: false });
    canvas.addEventListener("pointerdown", e => {
      canvas.setPointerCapture(e.pointerId);
      this.pointers.set(e.pointerId, at(e));
      this.drawing = e.shiftKey && this.tool === "pan" ? "box" : this.tool;
      if (this.drawing !== "pan" && this.pointers.size === 1) this.path = [at(e)];
    });
    canvas.addEventListener("pointermove", e => this.move(e.pointerId, at(e)));
    const up = e => {
      this.pointers.delete(e.pointerId);
      if (this.path) this.finish();
    };
    canvas.addEventListener("pointerup", up);
    canvas.addEventListener("pointercancel", up);
    canvas.addEventListener("pointerleave", () => { this.tip.hidden = true; });
    canvas.addEventListener("dblclick", () => this.reset());
    canvas.addEventListener("keydown", e => this.key(e));
  }

  move(id, place) {
    const before = this.pointers.get(id);
    if (!before) return this.hover(place);
    this.tip.hidden = true;
    if (this.pointers.size === 2) {
      const other = [...this.pointers].find(([key]) => key !== id)[1];
      const was = Math.hypot(before[0] - other[0], before[1] - other[1]);
      const now = Math.hypot(place[0] - other[0], place[1] - other[1]);
      this.path = null;
      this.zoom(now / (was || 1), (place[0] + other[0]) / 2, (place[1] + other[1]) / 2);
    } else if (this.path) {
      this.path.push(place);
      this.soon();
    } else {
      this.pan(place[0] - before[0], place[1] - before[1]);
    }
    this.pointers.set(id, place);
  }

  hover([px, py]) {
    const i = this.pick(px, py);
    this.hovered = i;
    this.tip.hidden = i < 0;
    if (i < 0) return;
    this.tip.textContent = describe(this, i);
    const [vx, vy] = [this.x.low + this.x.q[i] * this.x.unit, this.y.low + this.y.q[i] * this.y.unit];
    const [tx, ty] = this.placeOf(vx, vy).map(v => v / this.ratio);
    const right = tx > this.figure.clientWidth / 2;
    this.tip.style.left = right ? "auto" : `${tx + 10}px`;
    this.tip.style.right = right ? `${this.figure.clientWidth - tx + 10}px` : "auto";
    this.tip.style.top = `${ty + 10}px`;
  }

  finish() {
    const path = this.path, kind = this.drawing;
    this.path = null;
    const far = path.some(p => Math.hypot(p[0] - path[0][0], p[1] - path[0][1]) > 4);
    if (!far) return this.shared.select(null);
    const tool = this.tool;
    this.tool = kind;
    this.shared.select(this.inside(outline(kind, path).map(p => this.valueAt(...p))));
    this.tool = tool;
  }

  key(e) {
    const step = 40 * this.ratio, { plot } = this;
    const middle = [plot.left + plot.width / 2, plot.top + plot.height / 2];
    const keys = {
      ArrowLeft: () => this.pan(step, 0), ArrowRight: () => this.pan(-step, 0),
      ArrowUp: () => this.pan(0, step), ArrowDown: () => this.pan(0, -step),
      "+": () => this.zoom(1.25, ...middle), "=": () => this.zoom(1.25, ...middle),
      "-": () => this.zoom(0.8, ...middle), 0: () => this.reset(),
      Escape: () => this.shared.select(null),
    };
    if (!keys[e.key]) return;
    e.preventDefault();
    keys[e.key]();
  }
}

// The corners of a box, or the whole way of a lasso.
function outline(tool, path) {
  const [a, b] = [path[0], path[path.length - 1]];
  return tool === "lasso" ? path : [a, [b[0], a[1]], b, [a[0], b[1]]];
}

// Whether (x, y) lies inside a polygon: an odd number of its sides is crossed on the way out.
function within(x, y, polygon) {
  let odd = false;
  for (let i = 0, j = polygon.length - 1; i < polygon.length; j = i++) {
    const [xi, yi] = polygon[i], [xj, yj] = polygon[j];
    if (yi > y !== yj > y && x < ((xj - xi) * (y - yi)) / (yj - yi) + xi) odd = !odd;
  }
  return odd;
}

// Rows by cell of a 256 x 256 grid: those of cell c are order[starts[c] .. starts[c + 1]].
function cellIndex(X, Y) {
  const n = X.length, starts = new Uint32Array(CELLS * CELLS + 1), order = new Uint32Array(n);
  const cell = i => (Y[i] >> 8) * CELLS + (X[i] >> 8);
  for (let i = 0; i < n; i++) starts[cell(i) + 1]++;
  for (let c = 0; c < CELLS * CELLS; c++) starts[c + 1] += starts[c];
  const next = starts.slice();
  for (let i = 0; i < n; i++) order[next[cell(i)]++] = i;
  return { starts, order };
}

function groupMoments(map, paint) {
  const { x, y } = map, sums = paint.palette.map((_, level) => ({ level, count: 0, sx: 0, sy: 0, sxx: 0, syy: 0, sxy: 0 }));
  const mx = (x.high - x.low) / 2 + x.low, my = (y.high - y.low) / 2 + y.low;
  for (let i = 0; i < map.cloud.n; i++) {
    const s = sums[paint.at[i]], a = x.low + x.q[i] * x.unit - mx, b = y.low + y.q[i] * y.unit - my;
    s.count++; s.sx += a; s.sy += b; s.sxx += a * a; s.syy += b * b; s.sxy += a * b;
  }
  return sums.map(s => {
    const n = s.count;
    if (n < 3) return null;
    const ax = s.sx / n, ay = s.sy / n;
    return {
      level: s.level, count: n, x: ax + mx, y: ay + my,
      xx: (s.sxx - n * ax * ax) / (n - 1), yy: (s.syy - n * ay * ay) / (n - 1),
      xy: (s.sxy - n * ax * ay) / (n - 1),
    };
  });
}

function describe(map, i) {
  const { cloud, x, y } = map;
  const value = c => (c.low + c.q[i] * c.unit).toPrecision(4);
  const colours = cloud.colours.filter(c => c.levels).map(c => `${c.name}: ${c.levels[c.at[i]]}`);
  return [rowName(cloud, i), ...colours, `${x.name} ${value(x)}, ${y.name} ${value(y)}`].join(" · ");
}
