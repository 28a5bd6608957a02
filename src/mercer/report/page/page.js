// The page: maps and their controls, the legend, the selection, sliders, tables as files.
"use strict";

document.documentElement.classList.add("scripted");
const about = JSON.parse(document.getElementById("about").textContent);

function option(value, words, chosen) {
  const element = document.createElement("option");
  element.value = value;
  element.textContent = words;
  element.selected = chosen;
  return element;
}

function download(name, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// A cell of CSV; text that a spreadsheet would take for a formula gets a quote before it.
function csvCell(cell) {
  let text = String(cell);
  if (/^[=+\-@\t\r]/.test(text) && !/^[+-]?[\d.]/.test(text)) text = `'${text}`;
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function csv(rows) {
  return rows.map(row => row.map(csvCell).join(",")).join("\n") + "\n";
}

function whole(n) {
  return n.toLocaleString("en");
}

function buildControls(figure, map, cloud) {
  for (const [role, index] of [["x", 0], ["y", 1]]) {
    const select = figure.querySelector(`select[data-axis="${role}"]`);
    cloud.components.forEach((c, k) => select.append(option(k, c.title, k === map.axes[index])));
    select.addEventListener("change", () => {
      const axes = [...map.axes];
      axes[index] = +select.value;
      map.setAxes(...axes);
      map.reset();
      label(figure, map, cloud);
    });
  }
  for (const radio of figure.querySelectorAll('input[data-tool]')) {
    radio.addEventListener("change", () => { map.tool = radio.dataset.tool; });
  }
  const toggles = { ellipses: on => { map.ellipses = on; }, arrows: on => { map.arrows = on ? about.arrows : null; } };
  for (const box of figure.querySelectorAll("input[data-toggle]")) {
    box.addEventListener("change", () => { toggles[box.dataset.toggle](box.checked); map.soon(); });
  }
  figure.querySelector("[data-reset]").addEventListener("click", () => map.reset());
  label(figure, map, cloud);
}

function label(figure, map, cloud) {
  map.canvas.setAttribute("aria-label",
    `Map of ${whole(cloud.n)} rows: ${map.x.title} to the right, ${map.y.title} upwards, in equal units. `
    + "Arrow keys move it, plus and minus zoom, 0 shows all.");
}

function buildLegend(cloud, shared) {
  const place = document.getElementById("legend"), select = document.getElementById("colour");
  cloud.colours.forEach((c, k) => select.append(option(k, c.name, k === 0)));
  select.parentElement.hidden = cloud.colours.length < 2;
  const fill = () => {
    const colour = cloud.colours[shared.colour];
    place.replaceChildren();
    if (!colour.levels) {
      if (colour.kind === "number") place.append(ramp(colour));
      return;
    }
    colour.levels.forEach((level, k) => {
      const button = document.createElement("button");
      button.type = "button";
      button.setAttribute("aria-pressed", "true");
      const dot = document.createElement("i");
      dot.style.background = `rgb(${colour.palette[k].join(",")})`;
      button.append(dot, level);
      button.addEventListener("click", () => {
        shared.shown[k] = !shared.shown[k];
        button.setAttribute("aria-pressed", String(shared.shown[k]));
        shared.changed();
      });
      place.append(button);
    });
  };
  select.addEventListener("change", () => { shared.setColour(+select.value); fill(); });
  fill();
}

function ramp(colour) {
  const bar = document.createElement("span");
  bar.className = "ramp";
  const stops = colour.palette.filter((_, k) => k % 16 === 0).map(c => `rgb(${c.join(",")})`);
  const strip = document.createElement("i");
  strip.style.background = `linear-gradient(to right, ${stops.join(",")})`;
  bar.append(colour.low.toPrecision(4), strip, colour.high.toPrecision(4));
  return bar;
}

function buildSelection(cloud, shared) {
  const place = document.getElementById("selection"), save = document.getElementById("save-rows");
  const clear = document.getElementById("clear-rows");
  const show = () => {
    const mask = shared.selected;
    save.hidden = clear.hidden = !mask;
    save.hidden ||= !cloud.rows;
    if (!mask) {
      place.textContent = "";
      return;
    }
    const colour = cloud.colours[shared.colour], counts = new Array(colour.palette.length).fill(0);
    let total = 0;
    for (let i = 0; i < cloud.n; i++) if (mask[i]) { total++; counts[colour.at[i]]++; }
    const by = colour.levels
      ? colour.levels.map((level, k) => [level, counts[k]]).filter(([, c]) => c)
        .map(([level, c]) => `${level} ${whole(c)}`).join(", ") : "";
    place.textContent = `${whole(total)} of ${whole(cloud.n)} rows selected${by ? `: ${by}` : ""}`;
  };
  save.addEventListener("click", () => {
    const head = ["row", ...(cloud.names ? ["name"] : []), ...cloud.components.map(c => c.name)];
    const rows = [head];
    for (let i = 0; i < cloud.n; i++) {
      if (!shared.selected[i]) continue;
      const name = cloud.names ? [cloud.names[cloud.rows[i]]] : [];
      const values = cloud.components.map(c => +(c.low + c.q[i] * c.unit).toPrecision(6));
      rows.push([cloud.rows[i] + 1, ...name, ...values]);
    }
    download("selected-rows.csv", csv(rows));
  });
  clear.addEventListener("click", () => shared.select(null));
  shared.onChange.push(show);
}

// A slider along a component: pictures of grey pixels, or curves, one for every step.
async function buildSteps(figure) {
  const steps = about.steps[+figure.dataset.steps], slider = figure.querySelector("input");
  const canvas = figure.querySelector("canvas"), words = figure.querySelector("output");
  const frames = await inflated(`steps-${figure.dataset.steps}`);
  const size = steps.width * steps.height;
  const context = canvas.getContext("2d");
  canvas.width = steps.width;
  canvas.height = steps.height;
  const show = () => {
    const at = +slider.value, image = context.createImageData(steps.width, steps.height);
    for (let k = 0; k < size; k++) {
      const v = frames[at * size + k];
      image.data.set([v, v, v, 255], 4 * k);
    }
    context.putImageData(image, 0, 0);
    words.textContent = steps.labels[at];
  };
  slider.addEventListener("input", show);
  show();
}

// A slider through panels that are all on the page: one is shown.
function buildFrames(figure) {
  const slider = figure.querySelector("input"), words = figure.querySelector("output");
  const frames = [...figure.querySelectorAll("[data-label]")];
  slider.addEventListener("input", () => {
    frames.forEach((frame, i) => { frame.hidden = i !== +slider.value; });
    words.textContent = frames[+slider.value].dataset.label;
  });
}

function buildTables() {
  for (const button of document.querySelectorAll("button[data-table]")) {
    button.hidden = false;
    button.addEventListener("click", () => {
      const table = document.getElementById(button.dataset.table);
      const rows = [...table.rows].map(r => [...r.cells].map(c => c.dataset.value ?? c.textContent));
      download(`${button.dataset.table}.csv`, csv(rows));
    });
  }
}

// Paper has no folds: what is folded is opened for it.
function buildPrint() {
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open])")];
    for (const fold of folded) fold.open = true;
  });
  addEventListener("afterprint", () => { for (const fold of folded) fold.open = false; });
}

function buildTheme(shared) {
  const button = document.getElementById("theme");
  button.hidden = false;
  button.addEventListener("click", () => {
    const dark = getComputedStyle(document.documentElement).colorScheme === "dark";
    document.documentElement.dataset.theme = dark ? "light" : "dark";
    shared?.changed();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => shared?.changed());
}

async function build() {
  buildTables();
  buildPrint();
  let shared = null;
  if (about.cloud) {
    const cloud = await readCloud(about.cloud);
    shared = makeShared(cloud);
    for (const figure of document.querySelectorAll("figure.map")) {
      const map = new RowMap(figure.querySelector(".canvas"), cloud, shared, figure.dataset.axes.split(",").map(Number));
      buildControls(figure, map, cloud);
    }
    buildLegend(cloud, shared);
    buildSelection(cloud, shared);
    window.mercer = { cloud, shared };
  }
  for (const figure of document.querySelectorAll("figure.steps")) await buildSteps(figure);
  for (const figure of document.querySelectorAll("figure.frames")) buildFrames(figure);
  buildTheme(shared);
  document.body.dataset.ready = "1";
}

build();
