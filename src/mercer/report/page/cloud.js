// The cloud: coordinates and colours of the rows, unpacked from text by the browser itself.
"use strict";

function bytesOf(id) {
  const text = atob(document.getElementById(id).textContent);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

async function inflated(id) {
  const stream = new Blob([bytesOf(id)]).stream();
  const plain = stream.pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(plain).arrayBuffer());
}

// Bytes of one rank stand together, the low ones first.
function words16(bytes, n) {
  const out = new Uint16Array(n);
  for (let i = 0; i < n; i++) out[i] = bytes[i] | (bytes[n + i] << 8);
  return out;
}

function words32(bytes, n) {
  const out = new Uint32Array(n);
  for (let i = 0; i < n; i++) {
    const low = bytes[i] | (bytes[n + i] << 8) | (bytes[2 * n + i] << 16);
    out[i] = (low | (bytes[3 * n + i] << 24)) >>> 0;
  }
  return out;
}

// The even bits of a Morton code.
function evenBits(v) {
  v &= 0x55555555;
  v = (v | (v >>> 1)) & 0x33333333;
  v = (v | (v >>> 2)) & 0x0f0f0f0f;
  v = (v | (v >>> 4)) & 0x00ff00ff;
  return (v | (v >>> 8)) & 0xffff;
}

// about: {n, components: [{name, low, high}], colours: [{name, kind, levels}], rows, names}
async function readCloud(about) {
  const n = about.n;
  const components = about.components.map(c => ({ ...c, q: null, unit: (c.high - c.low) / 65535 }));
  if (components.length === 1) {
    components[0].q = words16(await inflated("cloud-0"), n);
  } else {
    const deltas = words32(await inflated("cloud-plane"), n);
    const x = new Uint16Array(n), y = new Uint16Array(n);
    for (let i = 0, code = 0; i < n; i++) {
      code = (code + deltas[i]) >>> 0;
      x[i] = evenBits(code);
      y[i] = evenBits(code >>> 1);
    }
    components[0].q = x;
    components[1].q = y;
    for (let k = 2; k < components.length; k++) {
      components[k].q = words16(await inflated(`cloud-${k}`), n);
    }
  }
  const colours = [];
  for (let c = 0; c < about.colours.length; c++) {
    colours.push({ ...about.colours[c], at: await inflated(`colour-${c}`) });
  }
  const density = about.density
    ? { size: about.density, at: await inflated("density") } : null;
  const rows = about.rows ? words32(await inflated("cloud-rows"), n) : null;
  return { n, components, colours, rows, density, names: about.names || null };
}

// What a row is called: its name where there is one, else its number in the file.
function rowName(cloud, i) {
  const row = cloud.rows ? cloud.rows[i] : i;
  return cloud.names ? cloud.names[row] : cloud.rows ? `row ${row + 1}` : "a row";
}
