// Many machines without Slurm. There is neither a cluster nor a cloud here: what Kubernetes and cloud-init are given is held against their own schemas, and
// its commands are run as they stand, with a tally that only pretends to measure.

import assert from 'node:assert/strict';
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import Ajv from 'ajv-draft-04';
import { parse, parseAllDocuments } from 'yaml';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const text = (file) => readFileSync(join(root, file), 'utf8');
const resources = (file) => parseAllDocuments(text(`ci/fleet/${file}`)).map((document) => document.toJS());

const [job] = resources('kubernetes-job.yaml');
const [claim, door] = resources('kubernetes-volume.yaml');
const userData = parse(text('ci/fleet/cloud-init.yaml'));

/** A folder that is gone after the test. */
function scratch(t, parent = tmpdir()) {
  const folder = mkdtempSync(join(parent, 'fleet-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function executable(path, lines) {
  writeFileSync(path, `#!/bin/sh\n${lines}`);
  chmodSync(path, 0o755);
}

/** An unpacked archive whose tally notes down that it was called, and has a session at its end; it fails where there is a file `data/broken`. */
function unpackedArchive(folder) {
  const there = join(folder, 'what-async-costs-x86_64');
  for (const part of ['.cargo', 'benches-src', 'data', 'programs']) mkdirSync(join(there, part), { recursive: true });
  for (const part of ['.revision', 'book.toml', 'rust-toolchain.toml']) writeFileSync(join(there, part), '');
  for (const script of ['element', 'measure', 'slurm']) cpSync(join(root, 'ci', script), join(there, script));
  executable(join(there, 'tally'), `[ ! -e data/broken ] || { echo "tally: out of order" >&2; exit 3; }
echo "tally: $*" >&2
case $1 in
    measure) echo "$*" >>data/asked ;;
    export) mkdir -p "data/machines/$2/sessions" && cp data/asked "data/machines/$2/sessions/2026-11-26.bundle.zst" ;;
esac
`);
  return there;
}

const ASKED = 'measure --effort full --programs programs\n';

/** The check that is compiled of the schema of each kind. The package itself lets pass keys that Kubernetes does not know, and does not export these. */
const schemas = {};
for (const [kind, name] of [['Job', 'BatchV1Job'], ['PersistentVolumeClaim', 'CoreV1PersistentVolumeClaim'], ['Pod', 'CoreV1Pod']]) {
  schemas[kind] = (await import(`./node_modules/kubernetes-models/_schemas/IoK8sApi${name}.mjs`)).validate;
}

/** What is wrong with a resource of Kubernetes. The check of a schema reads every key that it knows, and so those that it leaves unread are unknown. */
function wrong(resource) {
  const unread = new Set();
  const watched = (value, place) => {
    if (typeof value !== 'object' || value === null) return value;
    const own = Array.isArray(value) ? [] : {};
    for (const [key, inner] of Object.entries(value)) {
      unread.add(`${place}/${key}`);
      own[key] = watched(inner, `${place}/${key}`);
    }
    const get = (target, key) => {
      unread.delete(`${place}/${String(key)}`);
      return target[key];
    };
    return new Proxy(own, { get });
  };
  const check = schemas[resource.kind];
  check(watched(resource, ''));
  const broken = (check.errors ?? []).map(({ instancePath, keyword, params }) => `${instancePath}: ${keyword} ${JSON.stringify(params)}`);
  return [...broken, ...[...unread].map((key) => `${key}: unknown`)];
}

test('Kubernetes knows all that its files say, and a mistake would be found', () => {
  for (const resource of [job, claim, door]) assert.deepEqual(wrong(resource), [], resource.kind);
  const pod = (copy) => copy.spec.template.spec;
  for (const [mistake, complaint] of [
    [(copy) => { copy.spec.completionMode = 'Index'; }, /^\/spec\/completionMode: enum /],
    [(copy) => { copy.spec.completions = '100'; }, /^\/spec\/completions: type /],
    [(copy) => { copy.spec.backoffLimitPerindex = 1; }, /^\/spec\/backoffLimitPerindex: unknown$/],
    [(copy) => { delete copy.spec.template; }, /^\/spec: required {"missingProperty":"template"}$/],
    [(copy) => { pod(copy).containers[0].comand = ['sh']; }, /^\/spec\/template\/spec\/containers\/0\/comand: unknown$/],
    [(copy) => { pod(copy).containers[0].resources.requests.cpu = '3 CPUs'; }, /\/resources\/requests\/cpu: format /],
  ]) {
    const copy = structuredClone(job);
    mistake(copy);
    const found = wrong(copy);
    assert.ok(found.some((one) => complaint.test(one)), `${mistake}\n${found.join('\n')}`);
  }
});

test('the parts of the job agree with each other, beyond what a schema says', () => {
  const { spec } = job;
  const pod = spec.template.spec;
  const [container] = pod.containers;
  assert.equal(spec.parallelism, spec.completions, 'all at once, or a node is measured twice');
  assert.equal(pod.restartPolicy, 'Never', 'else no limit per index is allowed');
  const [apart] = pod.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution;
  assert.deepEqual(apart.labelSelector.matchLabels, spec.template.metadata.labels, 'its own pods keep away from each other');
  assert.equal(container.resources.limits, undefined, 'a quota is a doubt');
  for (const { spec: { volumes, containers } } of [spec.template, door]) {
    const [{ volumeMounts }] = containers;
    assert.deepEqual(volumeMounts.map(({ name }) => name), volumes.map(({ name }) => name));
    assert.equal(volumes[0].persistentVolumeClaim.claimName, claim.metadata.name);
    assert.equal(volumeMounts[0].mountPath, '/fleet');
  }
  assert.equal(container.workingDir, '/fleet/what-async-costs-x86_64', 'where the archive was unpacked by the door');
  assert.equal(container.volumeMounts[1].mountPath, `${container.workingDir}/work`, 'where an element works');
  // An export refuses what has the name of the host in it, which is here that of the job with the index.
  assert.doesNotMatch(container.command.join(' '), new RegExp(`element ${job.metadata.name} `));
});

const [container] = job.spec.template.spec.containers;

/** How each of them starts its element 3 in the folder of the archive: a command, and what the environment says. */
const STARTED_BY = {
  hand: [['./element', 'amd-epyc-4cpu', '3'], {}],
  Slurm: [['sh', 'slurm', 'amd-epyc-4cpu'], { SLURM_SUBMIT_DIR: '.', SLURM_ARRAY_TASK_ID: '3' }],
  Kubernetes: [[...container.command, ...(container.args ?? [])], { JOB_COMPLETION_INDEX: '3' }],
};

for (const [who, [[command, ...words], env]] of Object.entries(STARTED_BY)) {
  test(`an element that is started by ${who} leaves its last words or its session, and goes on where it was`, (t) => {
    const there = unpackedArchive(scratch(t));
    // As the job has it: on another file system, to which no link leads. In the memory of this machine, where it has such a file system.
    if (who === 'Kubernetes' && existsSync('/dev/shm')) symlinkSync(scratch(t, '/dev/shm'), join(there, 'work'));
    const start = () => {
      const { status, stdout, stderr } = spawnSync(command, words, { cwd: there, env: { PATH: '/usr/bin:/bin', ...env }, encoding: 'utf8' });
      return { status, said: stdout + stderr };
    };
    const sessions = () => readdirSync(join(there, 'sessions'));
    const session = 'amd-epyc-4cpu-3_2026-11-26.bundle.zst';

    writeFileSync(join(there, 'data/broken'), '');
    const failed = start();
    assert.equal(failed.status, 3, failed.said);
    assert.deepEqual(sessions(), ['amd-epyc-4cpu-3.failed']);
    assert.match(readFileSync(join(there, 'sessions/amd-epyc-4cpu-3.failed'), 'utf8'), /^exit status 3\n[^]*out of order/);

    writeFileSync(join(there, 'work/amd-epyc-4cpu-3/data/asked'), 'what was measured before\n');
    rmSync(join(there, 'work/amd-epyc-4cpu-3/data/broken'));
    const went = start();
    assert.equal(went.status, 0, went.said);
    assert.deepEqual(sessions(), [session]);
    assert.equal(readFileSync(join(there, 'sessions', session), 'utf8'), `what was measured before\n${ASKED}`);
    assert.deepEqual(readdirSync(join(there, 'work')), [], 'nothing but the session is left');

    const again = start();
    assert.equal(again.status, 0, again.said);
    assert.match(again.said, /amd-epyc-4cpu-3 is done/);
  });
}

test('what one node began another begins anew', (t) => {
  const there = unpackedArchive(scratch(t));
  const start = () => spawnSync('./element', ['amd-epyc-4cpu', '3'], { cwd: there, env: { PATH: '/usr/bin:/bin' }, encoding: 'utf8' });
  writeFileSync(join(there, 'data/broken'), '');
  assert.equal(start().status, 3);
  const work = join(there, 'work/amd-epyc-4cpu-3');
  writeFileSync(join(work, 'data/asked'), 'what was measured there\n');
  writeFileSync(join(work, 'node'), 'another-node\n');
  rmSync(join(there, 'data/broken'));
  const { status, stderr } = start();
  assert.equal(status, 0, stderr);
  assert.equal(readFileSync(join(there, 'sessions/amd-epyc-4cpu-3_2026-11-26.bundle.zst'), 'utf8'), ASKED);
});

test('an element without a name or an index says how it is used', (t) => {
  const there = unpackedArchive(scratch(t));
  const { status, stderr } = spawnSync('./element', ['amd-epyc-4cpu'], { cwd: there, encoding: 'utf8' });
  assert.equal(status, 2);
  assert.match(stderr, /\.\/element NAME INDEX/);
});

const unpacked = spawnSync(join(root, 'ci/unpack'), ['cloud-init'], { encoding: 'utf8' });

test('cloud-init knows all that its user data says, and a mistake would be found', { skip: unpacked.status !== 0 && unpacked.stderr.trim() }, () => {
  assert.match(text('ci/fleet/cloud-init.yaml'), /^#cloud-config\n/);
  const schema = 'usr/lib/python3/dist-packages/cloudinit/config/schemas/schema-cloud-config-v1.json';
  // It is not installed: as a package it would set up the machine that runs this at its next start.
  const check = new Ajv({ strict: false, validateFormats: false }).compile(JSON.parse(readFileSync(join(unpacked.stdout.trim(), schema), 'utf8')));
  assert.ok(check(userData), JSON.stringify(check.errors));
  for (const mistake of [
    ([file]) => { file.contents = file.content; },
    ([file]) => { file.permissions = 0o755; },
    ([file]) => { delete file.path; },
  ]) {
    const copy = structuredClone(userData);
    mistake(copy.write_files);
    assert.ok(!check(copy), mistake.toString());
  }
});

test('a machine of a cloud sends its session or its last words, and is powered off whatever happens', { timeout: 20_000 }, async (t) => {
  const folder = scratch(t);
  const curl = spawnSync(join(root, 'ci/need'), ['curl'], { encoding: 'utf8' });
  assert.equal(curl.status, 0, curl.stderr);
  // Nothing but these is found by it: no command that would end the machine that runs this.
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  for (const tool of ['basename', 'cp', 'curl', 'dirname', 'gzip', 'mkdir', 'sed', 'tail', 'tar', 'timeout']) {
    symlinkSync(execFileSync('sh', ['-c', `command -v ${tool}`], { encoding: 'utf8' }).trim(), join(bin, tool));
  }
  executable(join(bin, 'shutdown'), `echo "$*" >>${folder}/shutdowns\n`);

  const there = unpackedArchive(folder);
  const pack = () => execFileSync('tar', ['-czf', join(folder, 'archive.tar.gz'), '-C', folder, basename(there)]);
  let came = [];
  const server = createServer(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    if (request.method === 'PUT') came.push({ url: request.url, body: Buffer.concat(parts).toString() });
    const isFetched = request.method === 'GET' && request.url === '/what-async-costs-x86_64.tar.gz';
    const isTaken = request.method === 'PUT' && !request.url.startsWith('/expired');
    response.writeHead(isFetched || isTaken ? 200 : 403).end(isFetched ? readFileSync(join(folder, 'archive.tar.gz')) : '');
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const here = `http://127.0.0.1:${server.address().port}`;

  const [{ path, permissions, content }] = userData.write_files;
  assert.equal(dirname(path), '/var/lib/cloud/scripts/per-boot');
  assert.doesNotMatch(content, /\/s?bin\/(?!sh\n)|poweroff|halt|reboot|systemctl/, 'it ends the machine in one way alone, which is replaced here');
  /** Starts the machine once, with its addresses changed by these; what came to the server, and what its owner reads in the log. */
  async function start(machine, ...changes) {
    came = [];
    rmSync(join(folder, 'shutdowns'), { force: true });
    mkdirSync(join(folder, machine), { recursive: true });
    const script = join(folder, machine, basename(path));
    assert.equal(content.split('https://example.org/').length, 3, 'two addresses');
    writeFileSync(script, changes.reduce((changed, [from, to]) => changed.replace(from, to), content.replaceAll('https://example.org', here)));
    chmodSync(script, parseInt(permissions, 8));
    const { stdout, stderr } = await promisify(execFile)(script, [], { cwd: '/', env: { PATH: bin } }).catch((error) => error);
    assert.equal(readFileSync(join(folder, 'shutdowns'), 'utf8'), '-P +300\n-P now\n', stdout + stderr);
    return { came, log: stdout + stderr };
  }

  pack();
  const url = '/amd-epyc-4cpu-1.bundle.zst?signature=yours';
  assert.deepEqual(await start('good'), { came: [{ url, body: ASKED }], log: '' });
  // Powered off in between, and started again.
  assert.deepEqual((await start('good')).came, [{ url, body: ASKED.repeat(2) }]);

  const refused = await start('expired', ['/amd-epyc-4cpu-1.bundle', '/expired.bundle']);
  assert.match(refused.log, /curl: .*403/);

  const unfetched = await start('unfetched', ['x86_64.tar.gz', 'sparc.tar.gz']);
  assert.equal(unfetched.came[0].url, url);
  assert.match(unfetched.came[0].body, /^exit status 22\ncurl: .*403/);

  writeFileSync(join(there, 'data/broken'), '');
  pack();
  const broken = await start('broken');
  assert.match(broken.came[0].body, /^exit status 3\n[^]*tally: out of order/);

  const nowhere = await start('nowhere', [here, 'http://127.0.0.1:9'], [here, 'http://127.0.0.1:9']);
  assert.deepEqual(nowhere.came, []);
  assert.match(nowhere.log, /curl: \(7\)/);
});

test('a machine of a cloud has the time to say that it took too long', () => {
  const [{ content }] = userData.write_files;
  const minutes = (pattern) => Number(content.match(pattern)[1]);
  assert.ok(minutes(/timeout (\d+)m /) + 15 <= minutes(/shutdown -P \+(\d+)/));
});

test('a handful of hosts by ssh: the lines of CONTRIBUTING.md bring home a session of each', (t) => {
  const folder = scratch(t);
  unpackedArchive(folder);
  execFileSync('tar', ['-czf', 'what-async-costs-x86_64.tar.gz', 'what-async-costs-x86_64'], { cwd: folder });
  rmSync(join(folder, 'what-async-costs-x86_64'), { recursive: true });
  writeFileSync(join(folder, 'hosts'), 'one\ntwo\n');
  // A host is a folder here, and what is behind a colon lies in it.
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  executable(join(bin, 'ssh'), 'mkdir -p "host-$1" && cd "host-$1" && shift && exec sh -c "$*"\n');
  executable(join(bin, 'scp'), `at() { case $1 in *:*) mkdir -p "host-\${1%%:*}"; echo "host-\${1%%:*}/\${1#*:}" ;; *) echo "$1" ;; esac; }
[ "$1" = -q ] && exec cp $(at "$2") "$(at "$3")"
`);
  const [, lines] = text('CONTRIBUTING.md').match(/```sh\n([^`]*for host in[^`]*)```/);
  const { status, stderr } = spawnSync('sh', ['-c', lines], { cwd: folder, env: { PATH: `${bin}:/usr/bin:/bin` }, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  const sessions = readdirSync(folder).filter((name) => name.endsWith('.bundle.zst')).sort();
  assert.deepEqual(sessions, ['my-kind-1_2026-11-26.bundle.zst', 'my-kind-2_2026-11-26.bundle.zst'], stderr);
  for (const session of sessions) assert.equal(readFileSync(join(folder, session), 'utf8'), ASKED);
});

test('what CONTRIBUTING.md calls by name is there', () => {
  const block = text('CONTRIBUTING.md').match(/```sh\n([^`]*kubectl[^`]*)```/)[1];
  for (const [, file] of block.matchAll(/-f (\S+)/g)) assert.ok(existsSync(join(root, file)), file);
  const names = block.match(/(?<=pod\/|job\/|exec )[\w-]+|[\w-]+(?=:\/fleet)/g);
  assert.deepEqual([...new Set(names)].sort(), [job.metadata.name, door.metadata.name]);
});
