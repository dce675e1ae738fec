// A list of which only the rows in sight exist, so that a hundred thousand are as quick as ten.

// A taller element is more than some browsers can scroll, in pixels.
const TALLEST = 8_000_000;
// So many rows beyond those in sight are drawn.
const BEYOND = 12;

/** The rows of a list box; `draw(index)` makes one, `chosen(index, byHand)` is told which is chosen. */
class Log {
  constructor(box, draw, chosen) {
    this.box = box;
    this.draw = draw;
    this.chosen = chosen;
    this.extent = make('div', { class: 'extent', role: 'presentation' });
    this.box.replaceChildren(this.extent);
    this.drawn = new Map();
    this.total = 0;
    this.current = -1;
    this.height = 30;
    box.addEventListener('scroll', () => this.later());
    box.addEventListener('click', (event) => this.click(event));
    box.addEventListener('keydown', (event) => this.key(event));
    new ResizeObserver(() => { this.measure(); this.refresh(); }).observe(box);
  }

  later() {
    this.waiting ??= requestAnimationFrame(() => {
      this.waiting = undefined;
      this.render();
    });
  }

  measure() {
    const probe = make('div', { class: 'row', 'aria-hidden': 'true' });
    this.extent.append(probe);
    this.height = probe.getBoundingClientRect().height || this.height;
    probe.remove();
  }

  /** Takes another number of rows, and draws anew what is in sight. */
  take(total, keep = true) {
    const from = keep ? this.box.scrollTop : 0;
    this.total = total;
    this.measure();
    this.extent.style.height = `${Math.min(total * this.height, TALLEST)}px`;
    this.box.scrollTop = from;
    this.refresh();
  }

  /** Draws anew. */
  refresh() {
    this.extent.replaceChildren();
    this.drawn.clear();
    this.extent.style.height = `${Math.min(this.total * this.height, TALLEST)}px`;
    this.render();
  }

  /** How far the list is scrolled in rows' own pixels, and in those of the box. */
  get scrolled() {
    const real = Math.max(0, this.total * this.height - this.box.clientHeight);
    const shown = Math.max(1, this.extent.offsetHeight - this.box.clientHeight);
    const top = this.box.scrollTop;
    return { real: real <= shown ? top : (top / shown) * real, factor: real <= shown ? 1 : shown / real };
  }

  render() {
    const { real } = this.scrolled;
    const first = Math.max(0, Math.floor(real / this.height) - BEYOND);
    const last = Math.min(this.total, Math.ceil((real + this.box.clientHeight) / this.height) + BEYOND);
    for (const [index, row] of this.drawn) {
      if (index < first || index >= last) {
        row.remove();
        this.drawn.delete(index);
      }
    }
    for (let index = first; index < last; index += 1) {
      let row = this.drawn.get(index);
      if (!row) {
        row = this.draw(index);
        this.drawn.set(index, row);
        this.extent.append(row);
      }
      row.style.top = `${this.box.scrollTop + index * this.height - real}px`;
    }
    this.mark();
  }

  mark() {
    for (const [index, row] of this.drawn) {
      row.setAttribute('aria-selected', String(index === this.current));
      row.classList.toggle('chosen', index === this.current);
    }
    if (this.drawn.has(this.current)) this.box.setAttribute('aria-activedescendant', `row-${this.current}`);
    else this.box.removeAttribute('aria-activedescendant');
  }

  /** Chooses a row and brings it in sight: in the middle where it was far away. */
  choose(index, byHand = true) {
    if (index < 0 || index >= this.total) return;
    this.current = index;
    const { real, factor } = this.scrolled;
    const top = index * this.height;
    const view = this.box.clientHeight;
    const margin = Math.min(2 * this.height, view / 4);
    if (top < real - this.height * 4 || top > real + view + this.height * 3) {
      this.box.scrollTop = (top - view / 3) * factor;
    } else if (top < real + margin) this.box.scrollTop = (top - margin) * factor;
    else if (top + this.height > real + view - margin) this.box.scrollTop = (top + this.height + margin - view) * factor;
    this.render();
    this.chosen(index, byHand);
  }

  click(event) {
    const row = event.target.closest('.row');
    if (!row) return;
    for (const [index, drawn] of this.drawn) {
      if (drawn === row) {
        this.choose(index);
        if (event.target.closest('.fold')) this.onfold?.(index);
        return;
      }
    }
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(this.box.clientHeight / this.height) - 1);
    const to = {
      ArrowDown: this.current + 1, ArrowUp: this.current - 1, PageDown: this.current + page, PageUp: this.current - page,
      Home: 0, End: this.total - 1,
    }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      this.choose(Math.max(0, Math.min(this.total - 1, to)));
    } else this.onkey?.(event, this.current);
  }
}
