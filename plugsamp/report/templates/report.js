(() => {
  "use strict";
  const data = JSON.parse(document.getElementById("data").textContent);
  const place = "plugsamp topic names " + data.model;
  const LONGEST = 80;

  const make = (name, properties, ...inside) => {
    const element = Object.assign(document.createElement(name), properties);
    element.append(...inside);
    return element;
  };

  // Names: those of the page, and over them what was written here before.
  const stored = () => {
    try {
      const found = JSON.parse(localStorage.getItem(place) || "{}");
      return found && typeof found === "object" ? found : {};
    } catch { return {}; }
  };
  const plain = (text) => {
    const line = String(text).replace(/\s+/g, " ").replace(/[\p{Cc}\p{Cs}]/gu, "").trim();
    return [...line].slice(0, LONGEST).join("").trim();  // characters, and no halves of them
  };
  let written = stored();
  const nameOf = (topic) => plain(Object.hasOwn(written, topic) ? written[topic] : data.names[topic] || "");
  const show = () => {
    for (const span of document.querySelectorAll(".tn")) {
      if (!span.querySelector("input")) span.textContent = nameOf(span.dataset.t);
    }
  };
  const keep = () => {
    try { localStorage.setItem(place, JSON.stringify(written)); } catch { say("This browser keeps no names: download them."); }
    show();
  };

  const own = [...document.querySelectorAll(".tn.own")];
  for (const span of own) {
    const topic = span.dataset.t;
    const button = make("button", { type: "button", className: "rename", textContent: "name" });
    button.setAttribute("aria-label", `Name topic ${topic}`);
    span.after(button);
    button.addEventListener("click", () => {
      const input = make("input", { value: nameOf(topic), maxLength: LONGEST });
      input.setAttribute("aria-label", `Name of topic ${topic}`);
      let open = true;
      const close = (save) => {
        if (!open) return;
        open = false;
        if (save) written[topic] = plain(input.value);
        input.remove();
        button.hidden = false;
        if (save) keep(); else show();
      };
      input.addEventListener("keydown", (event) => {
        if (event.key === "Enter" || event.key === "Escape") { close(event.key === "Enter"); button.focus(); }
      });
      input.addEventListener("blur", () => close(true));
      span.textContent = "";
      span.append(input);
      button.hidden = true;
      input.select();
      input.focus();
    });
  }

  // Sorting: rows by what a cell says of itself in data-v, or by its text; what is unknown comes last.
  const valueOf = (row, column, kind) => {
    const cell = row.cells[column];
    const text = cell.dataset.v !== undefined ? cell.dataset.v : cell.textContent.trim();
    if (kind === "text") return text.toLowerCase();
    return text === "" || Number.isNaN(Number(text)) ? null : Number(text);
  };
  const sort = (table, column, kind, up) => {
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => [valueOf(row, column, kind), row]);
    rows.sort(([a], [b]) => {
      if (a === null || b === null) return (a === null) - (b === null);
      return (a < b ? -1 : a > b ? 1 : 0) * (up ? 1 : -1);
    });
    body.append(...rows.map(([, row]) => row));
    [...table.tHead.rows[0].cells].forEach((th, i) => {
      if (i === column) th.setAttribute("aria-sort", up ? "ascending" : "descending");
      else th.removeAttribute("aria-sort");
    });
  };
  const sortable = (table) => [...table.tHead.rows[0].cells]
    .map((th, column) => ({ th, column, kind: th.dataset.sort, title: th.textContent }))
    .filter(({ kind }) => kind);
  for (const table of document.querySelectorAll("table[data-sortable]")) {
    for (const { th, column, kind } of sortable(table)) {
      const button = make("button", { type: "button" }, ...th.childNodes);
      th.append(button);
      button.addEventListener("click", () => {
        const before = th.getAttribute("aria-sort");
        sort(table, column, kind, before ? before === "descending" : kind === "text" || th.textContent === "Topic");
      });
    }
  }

  // Filtering: rows that hold all words asked for, of topics in what is shown of them unopened.
  const filter = (tables, text, output) => {
    const wanted = text.toLowerCase().split(/\s+/).filter(Boolean);
    let seen = 0, all = 0;
    for (const table of tables) {
      for (const row of table.tBodies[0].rows) {
        const parts = table.matches(".topics") ? row.querySelectorAll("th, .words > span:not([hidden]), .speaks") : [row];
        const content = [...parts].map((part) => part.textContent).join(" ").toLowerCase();
        row.hidden = !wanted.every((word) => content.includes(word));
        seen += !row.hidden;
        all += 1;
      }
    }
    output.textContent = wanted.length ? `${seen} of ${all}` : "";
  };
  const filterField = (tables, what) => {
    const output = make("output", {});
    const input = make("input", { type: "search" });
    input.addEventListener("input", () => filter(tables, input.value, output));
    return [make("label", {}, what, input), output];
  };
  for (const table of document.querySelectorAll("table[data-filterable]:not(.topics)")) {
    if (table.tBodies[0].rows.length > 12) {
      table.before(make("div", { className: "tools" }, ...filterField([table], "Filter")));
    }
  }

  // The tools of the topics.
  const message = make("output", {});
  const say = (text) => { message.textContent = text; };
  const tools = document.querySelector(".tools[data-for=topics]");
  if (tools) {
    const tables = [...document.querySelectorAll("table.topics")];
    const choice = make("select", {});
    choice.append(...sortable(tables[0]).flatMap(({ column, title }) => [
      make("option", { value: `${column} down`, textContent: `${title}, largest first` }),
      make("option", { value: `${column} up`, textContent: `${title}, smallest first` }),
    ]));
    choice.value = `${sortable(tables[0])[1].column} down`;
    choice.addEventListener("change", () => {
      const [column, way] = choice.value.split(" ");
      for (const table of tables) sort(table, Number(column), "number", way === "up");
    });
    const ranked = [...document.querySelectorAll("table.topics [data-by]")];
    const ranking = make("select", {});
    ranking.append(...[...new Set(ranked.map((span) => span.dataset.by))].map((by) =>
      make("option", { value: by, textContent: by === "frex" ? "FREX" : by })));
    ranking.value = (ranked.find((span) => !span.hidden) || { dataset: {} }).dataset.by;
    ranking.addEventListener("change", () => {
      for (const span of ranked) span.hidden = span.dataset.by !== ranking.value;
      tools.querySelector("input[type=search]").dispatchEvent(new Event("input"));
    });
    const download = make("button", { type: "button", textContent: "Download names" });
    download.addEventListener("click", () => {
      const names = {};
      for (const t of data.topics) if (nameOf(t)) names[t] = nameOf(t);
      const text = JSON.stringify({ model: data.model, names }, null, 2) + "\n";
      const link = make("a", { href: URL.createObjectURL(new Blob([text], { type: "application/json" })), download: "topic_names.json" });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
    const file = make("input", { type: "file", accept: ".json", className: "out" });
    file.addEventListener("change", async () => {
      try {
        const found = JSON.parse(await file.files[0].text());
        if (!found || typeof found.names !== "object" || !found.names) throw new Error("it holds no names");
        if (found.model && !Object.hasOwn(data.prefixes, found.model)) throw new Error("its names are for another model");
        const known = new Set(data.topics);
        const keyOf = (t) => (found.model ? data.prefixes[found.model] : known.has(t) ? "" : data.unsaid) + t;
        const pairs = Object.entries(found.names).filter(([t, name]) => known.has(keyOf(t)) && typeof name === "string");
        for (const [topic, name] of pairs) written[keyOf(topic)] = plain(name);
        keep();
        say(`${pairs.length} names loaded`);
      } catch (error) { say(`The file cannot be taken: ${error.message}`); }
      file.value = "";
    });
    tools.append(
      ...filterField(tables, "Filter"),
      make("label", {}, "Words by", ranking),
      make("label", {}, "Sort", choice),
      download, make("label", { className: "file" }, "Load names", file), message,
    );
    tools.hidden = false;
  }

  // On paper documents are open; of topics those that the reader has opened.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details.document:not([open])")];
    for (const one of opened) one.open = true;
  });
  addEventListener("afterprint", () => { for (const one of opened) one.open = false; });

  show();
})();
