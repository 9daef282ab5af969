import { constants } from "node:os";
import { describe, expect, test } from "vitest";
import { filterDescriptor, type Sandbox, sandboxed } from "./sandbox.ts";
import { refusedCalls, systemCallFilter } from "./systemCalls.ts";
import { sandboxOutput } from "./testing/sandboxOutput.ts";

const isRoot = process.getuid?.() === 0;
const { EPERM, ENOSYS, EAFNOSUPPORT, EOPNOTSUPP } = constants.errno;
const sandbox: Sandbox = {
  user: 287_655,
  root: "/",
  mounts: [],
  memoryFolders: [{ path: "/tmp", maxBytes: 1 << 20 }],
  limits: null,
  isOffline: true,
};

/** As root, and as another user, for whom bubblewrap makes a user namespace. */
const users = [
  { user: "root", asRoot: true, change: [] },
  {
    user: "another user",
    asRoot: false,
    change: isRoot ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : [],
  },
].filter(({ asRoot }) => isRoot || !asRoot);

/** Numbers on x86-64 and arm64. */
const numbers = {
  clone: [56, 220],
  clone3: [435, 435],
  socket: [41, 198],
  socketpair: [53, 199],
  ioctl: [16, 29],
  personality: [135, 92],
  unshare: [272, 97],
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  kcmp: [312, 272],
  io_uring_setup: [425, 425],
  keyctl: [250, 219],
  userfaultfd: [323, 282],
  getpid: [39, 172],
  statmount: [457, 457],
  fallocate: [285, 47],
} as const;

const numberOf = (name: keyof typeof numbers): number => numbers[name][process.arch === "arm64" ? 1 : 0];

/** Perl that makes system calls. Returns its output: `$!` after each call, 0 if it succeeds. */
async function callsIn(command: (program: readonly string[]) => readonly string[], calls: readonly string[]) {
  const code = calls.map((call) => `$! = 0; syscall(${call}); push @codes, $! + 0;`).join(" ");
  const lines = `$buffer = "\\0" x 4096; ${code} print join(",", @codes);`;
  return (await sandboxOutput(command(["perl", "-e", lines]))).split(",").map(Number);
}

test("root with all capabilities can make none of the refused calls", async () => {
  const base = ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-pid", "--new-session"];
  const asUser = isRoot ? [] : ["--unshare-user", "--uid", "0", "--cap-add", "ALL"];
  const names = [...refusedCalls().keys()];
  // Without the filter, these arguments are wrong: no call does anything.
  const calls = [...refusedCalls().values()].map((number) => `${number}, -1, -1, -1, -1, -1, -1`);
  const codes = await callsIn(
    (program) => [...base, ...asUser, "--seccomp", String(filterDescriptor), "--", ...program],
    calls,
  );
  expect(names.length).toBeGreaterThan(60);
  expect(codes).toEqual(names.map(() => EPERM));
});

test.each(users)("scripts can't make calls that their user could make otherwise: $user", async ({ asRoot, change }) => {
  const user = 0x1000_0000;
  const attempts: readonly (readonly [string, number])[] = [
    [`${numberOf("unshare")}, ${user}`, EPERM],
    [`${numberOf("clone")}, ${user | 17}, 0, 0, 0, 0`, EPERM],
    [`${numberOf("clone3")}, $buffer, 64`, ENOSYS],
    [`${numberOf("ptrace")}, 0, 0, 0, 0`, EPERM],
    [`${numberOf("process_vm_readv")}, $$, 0, 0, 0, 0, 0`, EPERM],
    [`${numberOf("kcmp")}, $$, $$, 1, 0, 0`, EPERM],
    [`${numberOf("io_uring_setup")}, 1, $buffer`, EPERM],
    [`${numberOf("keyctl")}, 0, -3, 1`, EPERM],
    [`${numberOf("userfaultfd")}, 1`, EPERM],
    [`${numberOf("personality")}, 0x0040000`, EPERM],
    [`${numberOf("statmount")}, 0, 0, 0, 0`, ENOSYS],
    [`${numberOf("fallocate")}, 1, 0, 0, 1`, EOPNOTSUPP],
    // AF_NETLINK, AF_ALG, AF_VSOCK
    ...[16, 38, 40].map((family) => [`${numberOf("socket")}, ${family}, 3, 0`, EAFNOSUPPORT] as const),
    [`${numberOf("socketpair")}, 30, 1, 0, $buffer`, EAFNOSUPPORT],
    // TIOCSTI, also with bits that the kernel ignores.
    [`${numberOf("ioctl")}, 0, 0x5412, $buffer`, EPERM],
    [`${numberOf("ioctl")}, 0, 0x100005412, $buffer`, EPERM],
  ];
  const codes = await callsIn(
    (program) => [...change, ...sandboxed({ ...sandbox }, program, asRoot)],
    attempts.map(([call]) => call),
  );
  expect(codes).toEqual(attempts.map(([, code]) => code));
});

test.each(users)("scripts can make usual calls: $user", async ({ asRoot, change }) => {
  const calls = [
    `${numberOf("socket")}, 1, 1, 0`,
    `${numberOf("socket")}, 2, 1, 0`,
    `${numberOf("socketpair")}, 1, 1, 0, $buffer`,
    `${numberOf("personality")}, 0xffffffff`,
    `${numberOf("getpid")}`,
  ];
  const codes = await callsIn((program) => [...change, ...sandboxed(sandbox, program, asRoot)], calls);
  expect(codes).toEqual(calls.map(() => 0));
});

/**
 * A program whose only code asks for its process id as 32-bit programs do (`int 0x80`), then ends with code 0. The bytes are the
 * headers of an ELF file with one loaded part, and the code.
 */
const program32 = [
  "7f454c46020101000000000000000000 02003e0001000000 7800400000000000 4000000000000000 0000000000000000",
  "00000000 4000 3800 0100 0000 0000 0000",
  "01000000 05000000 0000000000000000 0000400000000000 0000400000000000 8f00000000000000 8f00000000000000 0010000000000000",
  "b814000000 cd80 b83c000000 31ff 0f05 90",
]
  .join("")
  .replaceAll(" ", "");

test.runIf(process.arch === "x64")("programs can't make system calls of 32-bit programs", async () => {
  const write = `open F, ">", "/tmp/p"; print F pack("H*", "${program32}"); close F; chmod 0755, "/tmp/p"; print system("/tmp/p")`;
  // Killed by SIGSYS.
  expect(Number(await sandboxOutput(sandboxed(sandbox, ["perl", "-e", write]))) & 127).toBe(31);
});

test("scripts start programs and threads, and look up names", async () => {
  // curl looks up names in a thread.
  const script =
    "echo a | cat | wc -l; curl --silent --max-time 10 http://localhost:1/; echo $?; getent hosts localhost";
  const output = await sandboxOutput(sandboxed(sandbox, ["sh", "-c", script]));
  expect(output).toMatch(/^1\n7\n\S+ +localhost/);
});

test("a sandboxed process has no descriptor of the filter", async () => {
  const output = await sandboxOutput(sandboxed(sandbox, ["sh", "-c", "ls /proc/$$/fd"]));
  expect(output.split(/\s+/)).not.toContain(String(filterDescriptor));
});

/** Runs the filter's program as the kernel does, for a system call on a processor. Returns the kernel's action. */
function actionOf(filter: Buffer, audit: number, number: number, ...values: readonly number[]): number {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(number, 0);
  data.writeUInt32LE(audit, 4);
  for (const [index, value] of values.entries()) data.writeUInt32LE(value >>> 0, 16 + 8 * index);
  let loaded = 0;
  for (let at = 0; at < filter.length; at += 8) {
    const [operation, operand] = [filter.readUInt16LE(at), filter.readUInt32LE(at + 4)];
    if (operation === 0x06) return operand;
    if (operation === 0x20) loaded = data.readUInt32LE(operand);
    else at += 8 * filter.readUInt8(at + (isTrue(operation, loaded, operand) ? 2 : 3));
  }
  throw new Error("The program has no end.");
}

function isTrue(operation: number, loaded: number, operand: number): boolean {
  if (operation === 0x15) return loaded === operand;
  if (operation === 0x25) return loaded > operand;
  if (operation === 0x45) return (loaded & operand) !== 0;
  throw new Error(`The program has an unknown operation: ${operation}`);
}

const allowed = 0x7fff_0000;
const refusedWith = (errno: number) => 0x0005_0000 | errno;

describe.each([
  { name: "x64", index: 0, audit: 0xc000_003e, other: 0x4000_0003 },
  { name: "arm64", index: 1, audit: 0xc000_00b7, other: 0x4000_0028 },
] as const)("the filter for $name", ({ name, index, audit, other }) => {
  const filter = systemCallFilter(name) ?? Buffer.alloc(0);
  const action = (call: keyof typeof numbers, ...values: readonly number[]) =>
    actionOf(filter, audit, numbers[call][index], ...values);

  test("refuses every call of its table, with any arguments", () => {
    const actions = [...refusedCalls(name).values()].map((number) => actionOf(filter, audit, number, 0));
    expect(actions.length).toBeGreaterThan(50);
    expect(new Set(actions)).toEqual(new Set([refusedWith(EPERM)]));
  });

  test("decides by arguments", () => {
    const user = 0x1000_0000;
    expect([action("clone", user | 17), action("clone", 17)]).toEqual([refusedWith(EPERM), allowed]);
    expect([action("socket", 16), action("socket", 10)]).toEqual([refusedWith(EAFNOSUPPORT), allowed]);
    expect([action("socketpair", 30), action("socketpair", 1)]).toEqual([refusedWith(EAFNOSUPPORT), allowed]);
    expect([action("ioctl", 0, 0x5412), action("ioctl", 0, 0x5401)]).toEqual([refusedWith(EPERM), allowed]);
    expect([action("personality", 0x0040000), action("personality", -1)]).toEqual([refusedWith(EPERM), allowed]);
  });

  test("makes programs use other calls", () => {
    expect([action("clone3"), action("statmount")]).toEqual([refusedWith(ENOSYS), refusedWith(ENOSYS)]);
    expect(action("fallocate")).toBe(refusedWith(EOPNOTSUPP));
    expect(action("getpid")).toBe(allowed);
  });

  test("kills programs of another processor", () => {
    expect(actionOf(filter, other, numbers.getpid[index])).toBe(0x8000_0000);
  });
});

test("processors without a table have no filter", () => {
  expect(systemCallFilter("riscv64")).toBeNull();
  for (const name of ["x64", "arm64"]) expect((systemCallFilter(name)?.length ?? 1) % 8).toBe(0);
  expect(refusedCalls("arm64").get("mount")).toBe(40);
});
