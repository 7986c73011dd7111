import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readDocuments } from '../../server/ingest/documents.js';
import type { ReadDocumentsOptions, SourceDocument } from '../../server/ingest/documents.js';
import type { Problem } from '../../server/ingest/input-files.js';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'auscult-documents-'));
});
afterEach(async () => rm(folder, { recursive: true, force: true }));

async function put(name: string, content: string | Uint8Array): Promise<string> {
  const path = join(folder, name);
  await mkdir(join(path, '..'), { recursive: true });
  await writeFile(path, content);
  return path;
}
async function read(path: string, options: ReadDocumentsOptions = {}): Promise<SourceDocument[]> {
  const documents: SourceDocument[] = [];
  for await (const document of readDocuments([path], options)) documents.push(document);
  return documents;
}
const failed = (what: RegExp) => ({ code: 'ingest_failed', message: expect.stringMatching(what) as string });

describe('reading documents', () => {
  it('reads markdown with front matter; the name without ending is the id', async () => {
    await put(
      'heart/angina.md',
      '---\ntitle: "Angina"\nurl: https://example.org/a\n---\n\n# Ignored\n\n**Chest** pain, see [this](x).\n',
    );
    expect(await read(folder)).toMatchObject([
      {
        id: 'heart/angina',
        title: 'Angina',
        url: 'https://example.org/a',
        text: 'Ignored\n\nChest pain, see this.',
      },
    ]);
  });

  it('takes the first heading, or the name, as title', async () => {
    await put('a.md', '# Gout ##\nText.');
    await put('b.txt', 'Plain text.');
    expect((await read(folder)).map(({ id, title }) => [id, title])).toEqual([
      ['a', 'Gout'],
      ['b', 'b'],
    ]);
  });

  it('reads html without scripts, styles and tags', async () => {
    const page =
      '<html><head><title>A &amp; B</title><style>p{}</style></head><body><script>alert("x")</script><p>One &lt; two</p><p>Three&#8217;s</p><!-- no --></body></html>';
    expect(await read(await put('a.html', page))).toMatchObject([
      { title: 'A & B', text: 'One < two\n\nThree’s' },
    ]);
  });

  it('reads csv with quoted commas, quotes and line breaks', async () => {
    const path = await put(
      'a.csv',
      'id,title,text,url\n1,Gout,"Crystals, in a ""joint"".\nPain.",\n2,,Second,https://e.org\n',
    );
    expect(await read(path)).toMatchObject([
      { id: '1', title: 'Gout', text: 'Crystals, in a "joint".\nPain.' },
      { id: '2', title: '2', text: 'Second', url: 'https://e.org' },
    ]);
  });

  it('reads json lines, with numbers as ids and a byte order mark', async () => {
    const path = await put(
      'a.jsonl',
      '\uFEFF{"id":7,"title":"T","text":"One.","url":null}\r\n\r\n{"text":"Two."}\n',
    );
    expect(await read(path)).toMatchObject([
      { id: '7', title: 'T', text: 'One.' },
      { id: 'a.jsonl:3', text: 'Two.' },
    ]);
  });

  it('joins the sections of one document, wherever its lines stand', async () => {
    const lines = [
      { id: 'x#0', doc: 'x', label: 'BACKGROUND', text: 'First.' },
      { id: 'y#0', doc: 'y', text: 'Other.' },
      { id: 'x#1', doc: 'x', label: 'RESULTS', text: 'Second.' },
    ];
    expect(
      await read(await put('c.jsonl', lines.map((line) => JSON.stringify(line)).join('\n'))),
    ).toMatchObject([
      { id: 'x', text: 'First.\n\nSecond.' },
      { id: 'y', text: 'Other.' },
    ]);
  });

  it('reads the published form of PubMedQA without its questions', async () => {
    const path = await put(
      'ori.json',
      JSON.stringify({ 123: { QUESTION: 'Is it?', CONTEXTS: ['A.', 'B.'], LABELS: ['X', 'Y'] } }),
    );
    const documents = await read(path);
    expect(documents).toMatchObject([{ id: '123', text: 'A.\n\nB.' }]);
    expect(JSON.stringify(documents)).not.toContain('Is it?');
  });
});

describe('bad input', () => {
  it.each([
    ['no JSON', '{"text":"ok"}\n{"text":', /a\.jsonl:2: .*no JSON/],
    ['no text', '{"text":"ok"}\n\n{"id":"x"}', /a\.jsonl:3: .*text/],
    ['a text that is no string', '{"text":[1]}', /a\.jsonl:1: .*text/],
  ])('of a line with %s is an error that names file and line, or is counted', async (_, content, message) => {
    const path = await put('a.jsonl', content);
    await expect(read(path)).rejects.toMatchObject(failed(message));
    const bad: Problem[] = [];
    const documents = await read(path, { onBad: (problem) => bad.push(problem) });
    expect([documents.length, bad.length]).toEqual([content.includes('ok') ? 1 : 0, 1]);
  });

  it('with an id that belongs to recordings is refused', async () => {
    await expect(read(await put('a.jsonl', '{"id":"speech:q1","text":"x"}'))).rejects.toMatchObject(
      failed(/speech:/),
    );
  });

  it('of a pdf says what to do', async () => {
    await expect(read(await put('a.pdf', '%PDF-1.7'))).rejects.toMatchObject(failed(/pdftotext/));
  });

  it('that is not UTF-8 or no kind that is read is refused', async () => {
    await expect(read(await put('a.txt', Uint8Array.from([0xff, 0xfe, 0x41])))).rejects.toMatchObject(
      failed(/UTF-8/),
    );
    await expect(read(await put('a.exe', 'MZ'))).rejects.toMatchObject(failed(/not read/));
    await expect(read(await put('a.csv', 'id,body\n1,x'))).rejects.toMatchObject(failed(/"text" column/));
  });

  it('that is not there is file_unreadable', async () => {
    await expect(read(join(folder, 'nothing'))).rejects.toMatchObject({ code: 'file_unreadable' });
  });

  it('behind a link is not followed out of the folder, and is told', async () => {
    const outside = await mkdtemp(join(tmpdir(), 'auscult-outside-'));
    await writeFile(join(outside, 'secret.txt'), 'secret');
    await put('inside.txt', 'inside');
    await symlink(join(outside, 'secret.txt'), join(folder, 'link.txt'));
    await symlink(outside, join(folder, 'linked-folder'));
    await put('README.md', 'about the folder');
    await put('.hidden.txt', 'hidden');
    const skipped: Problem[] = [];
    const documents = await read(folder, { onSkip: (problem) => skipped.push(problem) });
    expect(documents.map(({ text }) => text)).toEqual(['inside']);
    expect(skipped).toHaveLength(2);
    await rm(outside, { recursive: true });
  });
});
