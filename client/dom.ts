type Child = Node | string | null;

interface Wanted {
  readonly class?: string;
  readonly text?: string;
  /** Attributes as written in HTML; null and false leave one out, true writes it empty. Never `style`: the policy forbids it. */
  readonly attributes?: Readonly<Record<string, string | number | boolean | null>>;
  readonly onClick?: (event: MouseEvent) => void;
}

/** Makes an element; texts are texts, never HTML. */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  wanted: Wanted = {},
  children: readonly Child[] = [],
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  if (wanted.class !== undefined) element.className = wanted.class;
  if (wanted.text !== undefined) element.textContent = wanted.text;
  setAttributes(element, wanted.attributes ?? {});
  const { onClick } = wanted;
  if (onClick) element.addEventListener('click', (event) => onClick(event as MouseEvent));
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** Makes an SVG element. */
export function svg(
  tag: string,
  attributes: Readonly<Record<string, string | number | boolean | null>>,
  children: readonly Node[] = [],
): SVGElement {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  setAttributes(element, attributes);
  element.append(...children);
  return element;
}

function setAttributes(
  element: Element,
  attributes: Readonly<Record<string, string | number | boolean | null>>,
): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === false) element.removeAttribute(name);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
}

/** An element of index.html that the page cannot do without. */
export function byId<T extends Element = HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (!element) throw new Error(`index.html has no element #${id}.`);
  return element as unknown as T;
}

/** Changes a text only when it differs, so that a live region does not speak twice. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** A function that runs only when what it was last given changes; states are never changed in place. */
export function onChange<T extends readonly unknown[]>(run: (...given: T) => void): (...given: T) => void {
  let last: T | null = null;
  return (...given) => {
    if (last && given.every((value, index) => Object.is(value, last?.[index]))) return;
    last = given;
    run(...given);
  };
}
