export interface Page {
  readonly title?: string;
  readonly url?: string;
  readonly text: string;
}

function optional(title: string | undefined, url: string | undefined): Pick<Page, 'title' | 'url'> {
  return { ...(title ? { title } : {}), ...(url ? { url } : {}) };
}

/** Markdown: front matter `title:` and `url:`, else the first heading; marks of headings, emphasis, links and lists are dropped. */
export function readMarkdown(source: string): Page {
  const front = /^---\n([\s\S]*?)\n---\n?/.exec(source);
  const body = front ? source.slice(front[0].length) : source;
  const field = (name: string) =>
    new RegExp(`^${name}:\\s*(.+?)\\s*$`, 'm').exec(front?.[1] ?? '')?.[1]?.replace(/^(["'])(.*)\1$/, '$2');
  const heading = /^#[ \t]+(.+?)[ \t]*#*$/m.exec(body)?.[1];
  const text = body
    .replace(/^```.*$/gm, '')
    .replace(/^ {0,3}#{1,6}[ \t]+(.*?)[ \t]*#*$/gm, '$1\n')
    .replace(/!\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/\[([^\]]+)\]\([^)]*\)/g, '$1')
    .replace(/^[ \t]*(?:[-*+]|\d+[.)]|>)[ \t]+/gm, '')
    .replace(/(\*\*|__)(.+?)\1/g, '$2')
    .replace(/\*(\S(?:.*?\S)?)\*/g, '$1')
    .replace(/`([^`]+)`/g, '$1')
    .replace(/\n{3,}/g, '\n\n');
  return { ...optional(field('title') ?? heading, field('url')), text: text.trim() };
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
};

function decodeEntities(text: string): string {
  return text.replace(
    /&(?:#(\d+)|#x([0-9a-f]+)|(\w+));/gi,
    (whole, decimal?: string, hex?: string, name?: string) => {
      if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? whole;
      const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
      return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '';
    },
  );
}

/** The readable text of an HTML page: scripts, styles and tags are dropped, blocks become paragraphs. */
export function readHtml(source: string): Page {
  const title = /<title[^>]*>([\s\S]*?)<\/title>/i.exec(source)?.[1];
  const url = /<link[^>]+rel=["']?canonical["']?[^>]*href=["']([^"']+)["']/i.exec(source)?.[1];
  const text = source
    .replace(/<!--[\s\S]*?-->/g, '')
    .replace(/<(script|style|noscript|template|head)\b[\s\S]*?<\/\1\s*>/gi, '')
    .replace(/\s+/g, ' ')
    .replace(/<\/?(p|div|section|article|h[1-6]|li|ul|ol|tr|table|br|blockquote)\b[^>]*>/gi, '\n\n')
    .replace(/<[^>]*>/g, '');
  const decoded = decodeEntities(text)
    .replace(/[ \t]+/g, ' ')
    .replace(/ ?\n ?/g, '\n')
    .replace(/\n{3,}/g, '\n\n');
  return {
    ...optional(title === undefined ? undefined : decodeEntities(title).trim(), url),
    text: decoded.trim(),
  };
}
