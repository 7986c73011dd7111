#!/usr/bin/env node
await import('../dist/server/cli.js');
