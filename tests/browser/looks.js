/* Faults of a page as it is seen: overlaps, cuts, small text and targets, small cards, codes. */
() => {
  const found = [], shown = (e) => e.getClientRects().length && getComputedStyle(e).visibility !== 'hidden';
  const within = (a, b) => a.left >= b.left - 1 && a.right <= b.right + 1 && a.top >= b.top - 1 && a.bottom <= b.bottom + 1;
  const wide = innerWidth, high = innerHeight;
  if (document.scrollingElement.scrollHeight > high || document.scrollingElement.scrollWidth > wide) found.push('the page scrolls');
  const boxes = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode, parent = node.parentElement, text = node.textContent.trim();
    if (!text || !shown(parent) || parent.closest('dialog:not([open]), script, select, aside, #tip, .symbols, .sr')) continue;
    const range = document.createRange(); range.selectNodeContents(node);
    const clip = getComputedStyle(parent).overflow === 'hidden' ? parent.getBoundingClientRect() : null;
    for (const box of range.getClientRects()) {
      const right = clip ? Math.min(box.right, clip.right) : box.right; // an ellipsis ends a name
      if (right - box.left > 1) boxes.push([text, {left: box.left, right, top: box.top, bottom: box.bottom}, parent]);
    }
    if (parseFloat(getComputedStyle(parent).fontSize) < 12) found.push(`small text: ${text}`);
    const cut = parent.scrollWidth > parent.clientWidth + 1 && getComputedStyle(parent).overflow !== 'visible';
    if (cut && !parent.matches('.plate b, .results b, .name')) found.push(`cut: ${text}`); // people's names may be
    if (/\b([TJQKA6-9][CDHS]|L\d+)\b|\*|_|human|units|seat \d/.test(text)) found.push(`code: ${text}`);
  }
  for (let i = 0; i < boxes.length; i++) for (let j = i + 1; j < boxes.length; j++) {
    const [[one, a], [other, b]] = [boxes[i], boxes[j]];
    const across = Math.min(a.right, b.right) - Math.max(a.left, b.left), down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (across > 1 && down > 1 && boxes[i][2] !== boxes[j][2]) found.push(`${one} lies on ${other}`);
  }
  for (const card of document.querySelectorAll('.hand .card, .strip .card')) {
    if (!shown(card)) continue;
    const box = card.getBoundingClientRect(), least = card.closest('.hand') ? 56 : 40;
    if (box.width < least - 1) found.push(`a card is ${Math.round(box.width)} px wide`);
    if (!within(box, {left: 0, top: 0, right: wide, bottom: high})) found.push('a card lies outside');
    for (const [text, b, parent] of boxes) {
      const across = Math.min(box.right, b.right) - Math.max(box.left, b.left), down = Math.min(box.bottom, b.bottom) - Math.max(box.top, b.top);
      if (across > 1 && down > 1 && !card.contains(parent)) found.push(`${text} covers a card`);
    }
  }
  for (const row of document.querySelectorAll('.results li')) {
    if (!within(row.getBoundingClientRect(), row.parentElement.getBoundingClientRect())) found.push(`out of view: ${row.textContent}`);
  }
  for (const target of document.querySelectorAll('button, a, select')) {
    if (!shown(target) || target.closest('dialog:not([open])')) continue;
    const box = target.getBoundingClientRect();
    if (box.width < 43.5 || box.height < 43.5) found.push(`a target is ${Math.round(box.width)} x ${Math.round(box.height)}: ${target.textContent}`);
    if (target.closest('.hand, #choices') && !within(box, {left: 0, top: 0, right: wide, bottom: high})) found.push(`outside: ${target.textContent}`);
  }
  return found;
}
