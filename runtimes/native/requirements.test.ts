import { expect, test } from "vitest";
import { checkMachine, degraded, describeMissing, explainFailure } from "./requirements.ts";
import { systemCallFilter } from "./systemCalls.ts";

const isRoot = process.getuid?.() === 0;
const all = { groups: { memory: true, pids: true }, missing: [], degraded: [] };

test("a machine with everything can start the native runtime", async () => {
  const findings = await checkMachine(all);
  expect(findings.missing).toEqual([]);
  expect(describeMissing(findings)).toBeNull();
  if (isRoot && systemCallFilter() !== null) expect(findings.degraded).toEqual([]);
});

test("everything that is missing is in one message, with the command that installs it", async () => {
  const noPhp = "There is no php-fpm. Install: apt-get install php-fpm";
  const findings = await checkMachine({ ...all, missing: [noPhp] }, (file) => file === "/usr/bin/apt-get");
  expect(describeMissing(findings)).toBe(`The native runtime can't start on this machine:
  - There is no bwrap or setpriv in /usr/bin, which the sandbox of sites needs. Install: apt-get install bubblewrap util-linux
  - ${noPhp}
Or set SITEWRIGHT_RUNTIME=playground.`);
});

test.each([
  { installer: "/usr/bin/dnf", command: /Install: dnf install bubblewrap util-linux$/ },
  { installer: "none", command: /Install bubblewrap/ },
])("packages are installed as the machine does: $installer", async ({ installer, command }) => {
  const { missing } = await checkMachine(all, (file) => file === installer);
  expect(missing).toEqual([expect.stringMatching(command)]);
});

/** Messages of bubblewrap. */
const noNamespace =
  "bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)";
const notAllowed = "bwrap: Creating new namespace failed: Operation not permitted";

test.each([
  { errors: "bwrap: Unknown option --disable-userns", asRoot: true, problem: /too old .* Install version 0\.8/ },
  { errors: noNamespace, asRoot: false, problem: /can't make user namespaces .* Start Sitewright as root, or allow/ },
  { errors: "bwrap: setting up uid map: Permission denied", asRoot: false, problem: /apparmor_restrict/ },
  { errors: notAllowed, asRoot: true, problem: /Root can't make sandboxes .* CAP_SYS_ADMIN/ },
  { errors: "a warning\nsetpriv: bad", asRoot: true, problem: /can't run in a sandbox on this machine: setpriv: bad$/ },
])("the reason why there is no sandbox comes with what to do: $errors", ({ errors, asRoot, problem }) => {
  expect(explainFailure(errors, asRoot)).toMatch(problem);
});

test("what a machine does without is told", async () => {
  const none = { memory: false, pids: false };
  expect(degraded(none, true, Buffer.of())).toEqual([expect.stringMatching(/no common limit of memory/)]);
  expect(degraded(none, false, null)).toEqual([
    expect.stringMatching(/same user/),
    expect.stringMatching(/no common limit of memory/),
    expect.stringMatching(/no limit of processes/),
    expect.stringMatching(/no filter/),
  ]);
  const noNetwork = "PHP has no network, because there is no nft.";
  expect((await checkMachine({ ...all, degraded: [noNetwork] })).degraded.at(-1)).toBe(noNetwork);
});
