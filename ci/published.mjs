// Builds the published site below target/, for tests that only look at it, and prints where it lies.

import { cpSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { published } from './site.mjs';

const place = join(dirname(fileURLToPath(import.meta.url)), '../target/published-site');
delete process.env.PUBLISHED_SITE;
const site = published();
rmSync(place, { recursive: true, force: true });
cpSync(site, place, { recursive: true });
console.log(place);
