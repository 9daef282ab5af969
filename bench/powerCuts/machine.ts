/** A virtual machine whose power can be cut: QEMU without acceleration, so that it needs no rights. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

export interface MachineOptions {
  readonly kernel: string;
  /** The root file system, which is not changed. */
  readonly rootImage: string;
  /** The socket of an NBD server with the other disk. */
  readonly diskSocket: string;
  /** The file for the kernel's messages. */
  readonly consoleFile: string;
  /** Variables of the first program. */
  readonly variables: Readonly<Record<string, string | number>>;
  /** Receives each line that programs write to the second serial port. */
  readonly onLine: (line: string) => void;
}

export interface Machine {
  /** Stops the machine at once. */
  kill(): void;
  /** Resolves with QEMU's errors when the machine has stopped. */
  readonly stopped: Promise<string>;
}

const memoryMegabytes = 1024;

/** Its driver is in the kernel. But NVMe disks of QEMU 7.2 ignore FUA, so the other disk is of another kind. */
const rootDevice = "/dev/nvme0n1";

export function startMachine(options: MachineOptions): Machine {
  const { kernel, rootImage, diskSocket, consoleFile, variables, onLine } = options;
  const words = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  const kernelOptions = [
    "console=ttyS0",
    "quiet",
    "panic=-1",
    "mitigations=off",
    `root=${rootDevice}`,
    "ro",
    "init=/init",
  ];
  const qemu = spawn(
    "qemu-system-x86_64",
    [
      ...["-accel", "tcg", "-machine", "q35", "-cpu", "max", "-m", String(memoryMegabytes)],
      ...["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"],
      ...["-kernel", kernel, "-append", [...kernelOptions, ...words].join(" ")],
      ...["-blockdev", `driver=raw,node-name=root,read-only=on,file.driver=file,file.filename=${rootImage}`],
      ...["-blockdev", `driver=nbd,node-name=disk,server.type=unix,server.path=${diskSocket}`],
      ...["-device", "nvme,serial=1,drive=root", "-device", "virtio-blk-pci,drive=disk"],
      ...["-serial", `file:${consoleFile}`, "-serial", "stdio"],
    ],
    { stdio: ["ignore", "pipe", "pipe"] },
  );
  createInterface({ input: qemu.stdout }).on("line", (line) => onLine(line.trimEnd()));
  let errors = "";
  qemu.stderr.on("data", (piece) => {
    errors += piece;
  });
  return { kill: () => qemu.kill("SIGKILL"), stopped: once(qemu, "close").then(() => errors) };
}
