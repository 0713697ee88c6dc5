"use strict";
// The heat map: draws the table from the embedded data, and keeps it usable by keyboard and by ear.

const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const words = { y: "yes", n: "no", "-": "absent", e: "error", u: "not measured" };
const abilities = [...new Map(data.columns.filter((c) => c.ability).map((c) => [c.ability, c])).values()];
const groups = [...new Set(data.columns.map((column) => column.group))];

const state = {
  class: data.class,
  groups: new Set(data.columns.filter((c) => data.shown.includes(c.key)).map((c) => c.group)),
  abilities: new Set(data.columns.filter((c) => data.shown.includes(c.key)).map((c) => c.ability)),
  grouped: true,
};

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** The columns to draw: those that are asked for and that some release answers for this class. */
function shownColumns() {
  const answered = data.cells[state.class];
  return data.columns.filter((column) => {
    if (!(column.key in answered) || !state.groups.has(column.group)) return false;
    if (column.ability) return state.abilities.has(column.ability);
    return data.shown.includes(column.key) || !data.shown.some((key) => sameGroup(key, column));
  });
}

/** Whether the column called `key` stands in the group of `column`. */
function sameGroup(key, column) {
  return data.columns.some((other) => other.key === key && other.group === column.group);
}

function cell(cls, key, release) {
  const answers = data.cells[cls][key];
  if (!answers) return { letter: "u", note: "" };
  const number = answers[1][release];
  return { letter: answers[0][release], note: number < 0 ? "" : data.details[number] };
}

function symbol({ letter, note }) {
  return letter === "t" ? note : data.symbols[letter];
}

function word({ letter, note }) {
  return letter === "t" ? note : words[letter];
}

/** Rows of releases (as first and last index): neighbours that agree share one. */
function rows(columns) {
  const found = [];
  const said = (release) => columns.map((column) => word(cell(state.class, column.key, release))).join("|");
  data.releases.forEach((_, index) => {
    const last = found.at(-1);
    if (state.grouped && last && said(last[0]) === said(index)) last[1] = index;
    else found.push([index, index]);
  });
  return found;
}

function rowName([first, last]) {
  const marked = data.releases.slice(first, last + 1).some((release) => release.yanked !== null);
  const [from, to] = [data.releases[first].version, data.releases[last].version];
  return (first === last ? from : `${from} \u2013 ${to}`) + (marked ? "*" : "");
}

function drawTable() {
  const columns = shownColumns();
  const headings = element("tr", {}, element("th", { class: "corner", scope: "col", rowspan: 2 }, "transformers"));
  const titles = element("tr");
  columns.forEach((column, index) => {
    const isFirst = index === 0 || columns[index - 1].group !== column.group;
    if (isFirst) {
      const span = columns.filter((other) => other.group === column.group).length;
      headings.append(element("th", { colspan: span, scope: "colgroup", class: "first" }, column.group));
    }
    const meaning = column.meaning.replace("{cls}", state.class);
    titles.append(
      element("th", { scope: "col", title: meaning, class: isFirst ? "first" : "" }, column.title),
    );
  });
  const body = element("tbody", {}, ...rows(columns).map((row) => drawRow(row, columns)));
  byId("map").replaceChildren(
    element("caption", { class: "hidden" }, `${state.class}: releases against capabilities`),
    element("thead", {}, headings, titles),
    body,
  );
  const first = body.querySelector("td");
  if (first) first.tabIndex = 0;
  byId("headline").textContent = data.headlines[state.class];
}

function drawRow(row, columns) {
  const name = rowName(row);
  const line = element("tr", {}, element("th", { scope: "row" }, name));
  columns.forEach((column, index) => {
    const said = cell(state.class, column.key, row[0]);
    const isFirst = index === 0 || columns[index - 1].group !== column.group;
    const made = element(
      "td",
      {
        class: `${said.letter === "-" ? "absent" : said.letter}${isFirst ? " first" : ""}`,
        tabindex: -1,
        "aria-label": `${name}, ${column.group}, ${column.title}: ${word(said)}`,
        "data-row": row.join(" "),
        "data-column": column.key,
      },
      symbol(said),
    );
    line.append(made);
  });
  return line;
}

function showDetail(chosen) {
  const [first, last] = chosen.dataset.row.split(" ").map(Number);
  const column = data.columns.find((other) => other.key === chosen.dataset.column);
  const said = cell(state.class, column.key, first);
  const notes = new Map();
  for (let index = first; index <= last; index += 1) {
    const { note } = cell(state.class, column.key, index);
    if (note) notes.set(note, [...(notes.get(note) ?? []), data.releases[index].version]);
  }
  const parts = [
    element("h2", {}, `${rowName([first, last])}: ${word(said)}`),
    element("p", {}, `${state.class}, ${column.group}: ${column.meaning.replace("{cls}", state.class)}.`),
  ];
  if (said.letter === "-") parts.push(element("p", {}, "The release has no such thing."));
  for (const [note, versions] of notes) {
    if (said.letter === "t") continue;
    parts.push(element("code", {}, note));
    if (notes.size > 1) parts.push(element("p", { class: "quiet" }, versions.join(", ")));
  }
  for (const other of byId("map").querySelectorAll('[aria-selected="true"]')) other.removeAttribute("aria-selected");
  chosen.setAttribute("aria-selected", "true");
  byId("detail").replaceChildren(...parts);
}

function moveFocus(from, key) {
  const line = [...from.parentElement.querySelectorAll("td")];
  const column = line.indexOf(from);
  const lines = [...byId("map").querySelectorAll("tbody tr")];
  const row = lines.indexOf(from.parentElement);
  const inLine = (index, at) => lines[index]?.querySelectorAll("td")[at];
  const next = {
    ArrowRight: () => line[column + 1],
    ArrowLeft: () => line[column - 1],
    ArrowDown: () => inLine(row + 1, column),
    ArrowUp: () => inLine(row - 1, column),
    Home: () => line[0],
    End: () => line.at(-1),
  }[key]?.();
  if (!next) return;
  from.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

function drawDiff() {
  const [from, to] = [byId("older"), byId("newer")].map((select) => Number(select.value));
  const [older, newer] = from <= to ? [from, to] : [to, from];
  const steps = [];
  for (let index = older + 1; index <= newer; index += 1) {
    const { version } = data.releases[index];
    const changes = data.changes[version];
    if (changes) steps.push(element("h3", {}, `With ${version}`), list(changes));
  }
  const net = netChanges(older, newer);
  byId("diff").replaceChildren(
    element("h3", {}, `${data.releases[older].version} and ${data.releases[newer].version} side by side`),
    net.length ? list(net) : element("p", {}, "Every capability is the same in both."),
    ...(steps.length ? steps : [element("p", {}, "Nothing that the probes see changed on the way.")]),
  );
}

/** Cells that differ, by class and group: [sentence, ""]. */
function netChanges(older, newer) {
  const found = new Map();
  for (const cls of Object.keys(data.cells)) {
    for (const column of data.columns) {
      const [was, is] = [older, newer].map((index) => word(cell(cls, column.key, index)));
      if (was === is || [was, is].some((said) => said === "absent" || said === "not measured")) continue;
      const key = `${cls}, ${column.group}: `;
      found.set(key, [...(found.get(key) ?? []), `${column.title} ${was} \u2192 ${is}`]);
    }
  }
  return [...found].map(([key, changes]) => [key + changes.join("; "), ""]);
}

function list(items) {
  return element(
    "ul",
    {},
    ...items.map(([what, means]) => element("li", {}, what, ...(means ? [" ", element("em", {}, means)] : []))),
  );
}

function check(set, value, label, title = "") {
  const box = element("input", { type: "checkbox", value });
  box.checked = set.has(value);
  box.addEventListener("change", () => {
    if (box.checked) set.add(value);
    else set.delete(value);
    drawTable();
  });
  return element("label", { title }, box, label);
}

function drawFilters() {
  const classes = Object.keys(data.cells).map((name) => element("option", { value: name }, name));
  byId("class").replaceChildren(...classes);
  byId("class").value = state.class;
  byId("class").addEventListener("change", (event) => {
    state.class = event.target.value;
    drawTable();
  });
  byId("grouped").addEventListener("change", (event) => {
    state.grouped = event.target.checked;
    drawTable();
  });
  byId("groups").append(...groups.map((group) => check(state.groups, group, group)));
  byId("abilities").append(
    ...abilities.map(({ ability, meaning }) => check(state.abilities, ability, ability, meaning)),
  );
  byId("legend").replaceChildren(
    ...Object.entries(data.symbols).map(([letter, sign]) =>
      element("span", {}, element("b", {}, sign), ` ${data.meanings[letter]}`),
    ),
  );
  byId("yanked").textContent = data.releases
    .filter((release) => release.yanked !== null)
    .map((release) => `* ${release.version} was yanked from the index: ${release.yanked}`)
    .join("; ");
}

function drawPicks() {
  const options = () => data.releases.map(({ version }, index) => element("option", { value: index }, version));
  byId("older").replaceChildren(...options());
  byId("newer").replaceChildren(...options());
  // Opens on the newest release that changed something.
  const changed = data.releases.findLastIndex(({ version }) => version in data.changes);
  byId("newer").value = Math.max(changed, 0);
  byId("older").value = Math.max(changed - 1, 0);
  byId("older").addEventListener("change", drawDiff);
  byId("newer").addEventListener("change", drawDiff);
}

byId("map").addEventListener("click", (event) => {
  const chosen = event.target.closest("td");
  if (chosen) showDetail(chosen);
});
byId("map").addEventListener("keydown", (event) => {
  const chosen = event.target.closest("td");
  if (!chosen) return;
  if (event.key === "Enter" || event.key === " ") showDetail(chosen);
  else moveFocus(chosen, event.key);
  if (["Enter", " ", "Home", "End"].includes(event.key) || event.key.startsWith("Arrow")) event.preventDefault();
});
for (const form of document.forms) form.addEventListener("submit", (event) => event.preventDefault());

drawFilters();
drawTable();
drawPicks();
drawDiff();
