// Builds the published site for tests that only look at it: `node ci/published.mjs PLACE`.

import { cpSync, rmSync } from 'node:fs';
import { published } from './site.mjs';

const [, , place] = process.argv;
if (!place) throw new Error('say where it is to lie: node ci/published.mjs PLACE');
delete process.env.PUBLISHED_SITE;
const site = published();
rmSync(place, { recursive: true, force: true });
cpSync(site, place, { recursive: true });
