/**
 * The filter of system calls for sandboxed processes: a program of Linux's seccomp, in classic BPF. It closes the parts of the
 * kernel that PHP does not need, and through which others have escaped from sandboxes before.
 */
import { constants } from "node:os";

/** `null`: the processor's Linux never had the call. */
type Numbers = readonly [x64: number, arm64: number | null];

/** Refused with any arguments. */
const refused: Readonly<Record<string, Numbers>> = {
  // Mounts, and files opened without their path.
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  name_to_handle_at: [303, 264],
  open_by_handle_at: [304, 265],
  // Namespaces; `clone` depends on its arguments.
  unshare: [272, 97],
  setns: [308, 268],
  // Other processes.
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  process_madvise: [440, 440],
  kcmp: [312, 272],
  pidfd_getfd: [438, 438],
  // Servers of scripts: they could take a port of the machine while its own program is restarted.
  bind: [49, 200],
  listen: [50, 201],
  // Large parts of the kernel that no plugin uses.
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  fanotify_init: [300, 262],
  lookup_dcookie: [212, 18],
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  mbind: [237, 235],
  set_mempolicy: [238, 237],
  set_mempolicy_home_node: [450, 450],
  migrate_pages: [256, 238],
  move_pages: [279, 239],
  modify_ldt: [154, null],
  // The machine.
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  create_module: [174, null],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  get_kernel_syms: [177, null],
  query_module: [178, null],
  iopl: [172, null],
  ioperm: [173, null],
  reboot: [169, 142],
  swapon: [167, 224],
  swapoff: [168, 225],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  clock_adjtime: [305, 266],
  adjtimex: [159, 171],
  acct: [163, 89],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  sethostname: [170, 161],
  setdomainname: [171, 162],
  syslog: [103, 116],
  vhangup: [153, 58],
  nfsservctl: [180, 42],
  uselib: [134, null],
  ustat: [136, null],
  sysfs: [139, null],
  _sysctl: [156, null],
};

/** Allowed with some arguments only, or refused with an error of its own. */
const restricted = {
  clone: [56, 220],
  clone3: [435, 435],
  socket: [41, 198],
  socketpair: [53, 199],
  ioctl: [16, 29],
  personality: [135, 92],
  fallocate: [285, 47],
} as const satisfies Readonly<Record<string, Numbers>>;

/**
 * Calls with higher numbers do not exist for sandboxed programs, which then use older ones. Linux had more calls for mounts and
 * namespaces after this one (`futex_requeue`). The numbers of calls for x86-64's x32 programs are higher, too.
 */
const newest = 456;

const processors = {
  x64: { index: 0, audit: 0xc000_003e },
  arm64: { index: 1, audit: 0xc000_00b7 },
} as const;

/** `CLONE_NEW…`: each makes a namespace. */
const namespaceFlags = 0x7e02_0000;
/** Unix, IPv4 and IPv6. Names are looked up without others. */
const socketFamilies = [1, 2, 10];
/** `TIOCSTI` and `TIOCLINUX` type into the terminal of another process. */
const typingRequests = [0x5412, 0x541c];
/** Linux's own, and the question for the current one. */
const personalities = [0, 0xffff_ffff];

const {
  EPERM: notPermitted,
  ENOSYS: noSuchCall,
  EAFNOSUPPORT: noSuchFamily,
  EOPNOTSUPP: notSupported,
} = constants.errno;

/** The kernel's `struct sock_filter`: operation, jumps if true and false (in instructions), operand. */
type Instruction = readonly [operation: number, ifTrue: number, ifFalse: number, operand: number];

const load = (offset: number): Instruction => [0x20, 0, 0, offset];
const ifEqual = (value: number, yes: number, no: number): Instruction => [0x15, yes, no, value];
const ifGreater = (value: number, yes: number, no: number): Instruction => [0x25, yes, no, value];
const ifAnyBit = (bits: number, yes: number, no: number): Instruction => [0x45, yes, no, bits];
const end = (action: number): Instruction => [0x06, 0, 0, action];

const allow = end(0x7fff_0000);
const killProcess = end(0x8000_0000);
const refuse = (errno: number): Instruction => end(0x0005_0000 | errno);

/** Offsets in the kernel's `struct seccomp_data`. The kernel, too, uses only the lower half of the arguments that are checked. */
const callNumber = load(0);
const processor = load(4);
const argument = (index: number): Instruction => load(16 + 8 * index);

/** For the system call with this number. The instructions must end the program. */
const onCall = (number: number, instructions: readonly Instruction[]): readonly Instruction[] => [
  ifEqual(number, 0, instructions.length),
  ...instructions,
];

function byValue(index: number, values: readonly number[], ifAny: Instruction, ifNone: Instruction) {
  const comparisons = values.map((value, place) => ifEqual(value, values.length - place, 0));
  return [argument(index), ...comparisons, ifNone, ifAny];
}

const unlessAnyBit = (index: number, bits: number, otherwise: Instruction) => [
  argument(index),
  ifAnyBit(bits, 1, 0),
  allow,
  otherwise,
];

function bytesOf(instructions: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(8 * instructions.length);
  for (const [index, [operation, ifTrue, ifFalse, operand]] of instructions.entries()) {
    bytes.writeUInt16LE(operation, 8 * index);
    bytes.writeUInt8(ifTrue, 8 * index + 2);
    bytes.writeUInt8(ifFalse, 8 * index + 3);
    bytes.writeUInt32LE(operand, 8 * index + 4);
  }
  return bytes;
}

const knownProcessor = (name: string) => (name === "x64" || name === "arm64" ? processors[name] : null);

/** The numbers of all system calls that are refused with any arguments, by name. Empty for processors without a filter. */
export function refusedCalls(name: string = process.arch): ReadonlyMap<string, number> {
  const index = knownProcessor(name)?.index;
  if (index === undefined) return new Map();
  return new Map(
    Object.entries(refused).flatMap(([call, numbers]) => {
      const number = numbers[index];
      return number === null ? [] : [[call, number]];
    }),
  );
}

/** Returns the filter's program, or null if there is none for this kind of processor (a value of `process.arch`). */
export function systemCallFilter(name: string = process.arch): Buffer | null {
  const known = knownProcessor(name);
  if (known === null) return null;
  const { index, audit } = known;
  return bytesOf([
    processor,
    // The same number means another call for programs of another processor, such as 32-bit ones.
    ifEqual(audit, 1, 0),
    killProcess,
    callNumber,
    ifGreater(newest, 0, 1),
    refuse(noSuchCall),
    ...[...refusedCalls(name).values()].flatMap((number) => onCall(number, [refuse(notPermitted)])),
    ...onCall(restricted.clone[index], unlessAnyBit(0, namespaceFlags, refuse(notPermitted))),
    // Its flags are in memory, where a filter can't read them. The C library then uses `clone`.
    ...onCall(restricted.clone3[index], [refuse(noSuchCall)]),
    ...onCall(restricted.socket[index], byValue(0, socketFamilies, allow, refuse(noSuchFamily))),
    ...onCall(restricted.socketpair[index], byValue(0, socketFamilies, allow, refuse(noSuchFamily))),
    ...onCall(restricted.ioctl[index], byValue(1, typingRequests, refuse(notPermitted), allow)),
    ...onCall(restricted.personality[index], byValue(0, personalities, allow, refuse(notPermitted))),
    // It takes disk space without writing, which `diskWatch.ts` would not see. The C library then writes.
    ...onCall(restricted.fallocate[index], [refuse(notSupported)]),
    allow,
  ]);
}
