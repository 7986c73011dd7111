import { defineConfig } from 'vite';

/** Builds the page from client/ into dist/client, where the server finds it. */
export default defineConfig({
  root: 'client',
  build: {
    outDir: '../dist/client',
    emptyOutDir: true,
    target: 'es2022',
    sourcemap: true,
    // The content policy allows files of our own only: nothing may be inlined as a data URL.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  // `npx vite` while working on the page, beside a server on the usual port.
  server: {
    proxy: { '/v1': { target: 'http://127.0.0.1:8787', ws: true }, '/readyz': 'http://127.0.0.1:8787' },
  },
});
