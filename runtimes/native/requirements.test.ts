import { expect, test } from "vitest";
import { degraded, describeMissing, explainFailure, findSandboxProblem } from "./requirements.ts";
import { systemCallFilter } from "./systemCalls.ts";
import { noPhpMessage } from "./versions/neededExtensions.ts";

const isRoot = process.getuid?.() === 0;

test("a machine with everything can run programs in a sandbox, and does without nothing", async () => {
  expect(await findSandboxProblem()).toBeNull();
  if (isRoot && systemCallFilter() !== null) expect(degraded({ memory: true, pids: true })).toEqual([]);
});

test("everything that is missing is in one message", () => {
  expect(describeMissing({ missing: [], degraded: [] })).toBeNull();
  expect(describeMissing({ missing: ["There is no x.", "There is no y."], degraded: [] })).toBe(
    `The native runtime can't start on this machine:
  - There is no x.
  - There is no y.
Or set SITEWRIGHT_RUNTIME=playground.`,
  );
});

test("what to do without native PHP is said once", () => {
  const message = describeMissing({ missing: ["There is no x.", noPhpMessage], degraded: [] });
  expect(message?.match(/SITEWRIGHT_RUNTIME=playground/g)).toHaveLength(1);
});

test.each([
  { installer: "/usr/bin/apt-get", command: /Install: apt-get install bubblewrap util-linux$/ },
  { installer: "/usr/bin/dnf", command: /Install: dnf install bubblewrap util-linux$/ },
  { installer: "none", command: /Install bubblewrap util-linux\.$/ },
])("what is missing comes with the command that installs it: $installer", async ({ installer, command }) => {
  const problem = await findSandboxProblem((file) => file === installer);
  expect(problem).toMatch(/^There is no bwrap or setpriv in \/usr\/bin, which the sandbox of sites needs\. /);
  expect(problem).toMatch(command);
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
});
