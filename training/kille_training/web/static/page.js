/*
 * The page of one table: joins the picture, the choices, the people and the server.
 */
"use strict";

(() => {
  const find = (id) => document.getElementById(id);
  const main = find("page");
  const client = new KilleClient(main.dataset.table, main.dataset.token);
  const table = new KilleTable(find("table"));
  const choices = new KilleChoices(find("choices"), table);
  const hints = new KilleHints(find("hints"));
  const people = new KillePeople(find("people"));
  const LOG_LINES = 300;
  const title = document.title;
  let state = null;
  let asked = Promise.resolve();

  client.addEventListener("state", (event) => {
    state = event.detail;
    const animate = find("speed").value !== "0" && document.visibilityState === "visible";
    if (state.frames.length) hints.clear();
    for (const frame of state.frames) table.show(frame, {animate});
    people.show(state);
    refresh();
  });
  client.addEventListener("trouble", (event) => {
    find("trouble").textContent = event.detail;
  });
  table.addEventListener("frame", (event) => {
    write(event.detail);
    find("step").hidden = !table.stepping;
  });
  table.addEventListener("idle", refresh);
  choices.addEventListener("choose", async (event) => {
    const {action} = event.detail;
    choices.show([]);
    if (!(await ask("act", {action}))) refresh();
  });
  people.addEventListener("sit", (event) => {
    ask("sit", {seat: event.detail, name: find("name").value.trim()});
  });
  people.addEventListener("leave", (event) => ask("leave", {seat: event.detail}));

  /** Asks the server, one thing after the other. */
  function ask(what, content) {
    asked = asked.then(async () => {
      main.setAttribute("aria-busy", "true");
      const answer = await client.ask(what, content);
      main.removeAttribute("aria-busy");
      return answer;
    });
    return asked;
  }

  /** Shows what belongs to the last frame, once it is there. */
  function refresh() {
    if (!state) return;
    find("skip").hidden = find("step").hidden = !table.busy;
    find("step").hidden = !(table.busy && table.stepping);
    const ready = !table.busy;
    show("question", ready ? questionOf(state) : "");
    choices.show(ready ? state.choices : []);
    document.title = ready && state.choices.length ? `Your turn: ${title}` : title;
    find("naming").hidden = state.you.length > 0 || state.waiting === 0;
    find("hint").hidden = !state.hints;
    find("hint").disabled = !(ready && state.choices.length);
    find("undo").hidden = !state.practice;
    find("undo").disabled = !(ready && state.can_undo);
    showBalance();
    showResults(ready && state.over);
  }

  function questionOf({failed, waiting, you, over, match, question}) {
    if (failed) return failed;
    if (waiting && !match) return "The match begins when all free seats are taken.";
    if (waiting) return "A seat is free; the match goes on when somebody takes it.";
    if (!you.length) return "You have no seat at this table.";
    return over ? "The match is over." : question;
  }

  function show(id, text) {
    if (find(id).textContent !== text) find(id).textContent = text;
  }

  function showBalance() {
    find("balance").hidden = state.balance === null;
    show("balance", `Balance ${units(state.balance)}`);
  }

  function showResults(over) {
    const panel = find("results");
    const hidden = panel.hidden;
    panel.hidden = !(over || state.failed) || !state.match;
    panel.replaceChildren();
    if (panel.hidden) return;
    const record = create("a", "button", "Download the record");
    record.href = `/tables/${encodeURIComponent(main.dataset.table)}/record`;
    record.download = "";
    const tools = create("div", "tools");
    tools.append(record);
    if (state.you.length) {
      const again = labelled("Play again", "main");
      again.id = "again";
      again.addEventListener("click", () => ask("again"));
      tools.prepend(again);
    }
    record.hidden = !state.results.length;
    const last = state.results.at(-1);
    if (last) panel.append(create("h2", "", `Result of match ${last.match}`));
    if (last) panel.append(resultsTable(last, state));
    panel.append(tools);
    if (hidden) panel.scrollIntoView({block: "nearest"});
  }

  /** Tells what happened; a table that is shown anew has its whole story with it. */
  function write({anew, lines}) {
    const log = find("log");
    const atEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 40;
    const list = log.firstElementChild;
    if (anew) list.replaceChildren();
    for (const line of lines) list.append(create("li", line.startsWith(" ") ? "inner" : "", line));
    while (list.children.length > LOG_LINES) list.firstChild.remove();
    if (atEnd) log.scrollTop = log.scrollHeight;
  }

  /* Tools and keys. */

  async function hint() {
    if (find("hint").hidden || find("hint").disabled) return;
    if (!find("hints").hidden) {
      hints.clear();
      return;
    }
    const answer = await ask("hint");
    if (answer) hints.show(answer.choices);
  }

  function undo() {
    if (!find("undo").hidden && !find("undo").disabled) ask("undo");
  }

  const keys = {
    h: hint,
    u: undo,
    s: () => table.step(),
    Escape: () => table.skip(),
    "?": () => find("helping").showModal(),
  };

  document.addEventListener("keydown", (event) => {
    const busy = event.ctrlKey || event.metaKey || event.altKey || event.repeat;
    const typing = event.target.closest("input, select, textarea, dialog, #log");
    if (busy || typing || find("helping").open) return;
    if (event.key === "Enter" && event.target.closest("button, a, summary")) return;
    if (!find("shortcuts").checked && event.key.length === 1) return;
    const done = keys[event.key] ? (keys[event.key](), true) : choices.press(event.key);
    if (done) event.preventDefault();
  });
  find("hint").addEventListener("click", hint);
  find("undo").addEventListener("click", undo);
  find("step").addEventListener("click", () => table.step());
  find("skip").addEventListener("click", () => table.skip());
  find("help").addEventListener("click", () => find("helping").showModal());

  /* Settings, which the browser remembers where it may. */

  function remember(id, read, write, use) {
    const field = find(id);
    try {
      const known = window.localStorage.getItem(`kille-${id}`);
      if (known !== null) write(field, known);
    } catch {
      // Storage is switched off: settings last as long as the page.
    }
    const changed = () => {
      use(field);
      try {
        window.localStorage.setItem(`kille-${id}`, read(field));
      } catch {
        // As above.
      }
    };
    field.addEventListener("change", changed);
    use(field);
  }

  const checked = [
    (field) => String(field.checked),
    (field, value) => (field.checked = value === "true"),
  ];
  const chosen = [(field) => field.value, (field, value) => (field.value = value)];
  remember("speed", ...chosen, (field) => {
    if (field.value === "0") table.skip();
    else table.speed = Number(field.value);
  });
  remember("stepping", ...checked, (field) => {
    table.stepping = field.checked;
    if (state) refresh();
  });
  remember("shortcuts", ...checked, () => {});

  client.listen();
})();
