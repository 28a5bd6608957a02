// Small things that drawing needs: colours of the page, round numbers, arrows, words.
"use strict";

const FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif";

function coloursOf(element) {
  const style = getComputedStyle(element);
  const rgb = name => {
    const hex = style.getPropertyValue(name).trim().slice(1);
    return [0, 2, 4].map(i => parseInt(hex.slice(i, i + 2), 16));
  };
  const text = name => style.getPropertyValue(name).trim();
  return {
    paper: rgb("--paper"), soft: rgb("--soft"),
    paperText: text("--paper"), ink: text("--ink"), muted: text("--muted"), grid: text("--veil"),
  };
}

// 1, 2 or 5 times a power of ten, at least `about`.
function roundStep(about) {
  const power = 10 ** Math.floor(Math.log10(about));
  for (const m of [1, 2, 5]) if (m * power >= about) return m * power;
  return 10 * power;
}

function shortNumber(value, step) {
  if (Math.abs(value) < step / 2) return "0";
  return String(+value.toPrecision(8)).replace("-", "−");
}

function strokeLine(context, x0, y0, x1, y1) {
  context.beginPath();
  context.moveTo(Math.round(x0) + 0.5, Math.round(y0) + 0.5);
  context.lineTo(Math.round(x1) + 0.5, Math.round(y1) + 0.5);
  context.stroke();
}

function arrow(context, x0, y0, x1, y1, head) {
  const angle = Math.atan2(y1 - y0, x1 - x0);
  context.beginPath();
  context.moveTo(x0, y0);
  context.lineTo(x1, y1);
  for (const turn of [2.6, -2.6]) {
    context.moveTo(x1, y1);
    context.lineTo(x1 + head * Math.cos(angle + turn), y1 + head * Math.sin(angle + turn));
  }
  context.stroke();
}

function haloed(context, words, x, y, ink, ratio) {
  context.save();
  context.lineJoin = "round";
  context.lineWidth = 4 * ratio;
  context.strokeStyle = ink.paperText;
  context.strokeText(words, x, y);
  context.fillStyle = ink.ink;
  context.fillText(words, x, y);
  context.restore();
}
