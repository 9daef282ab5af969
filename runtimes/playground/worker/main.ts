/**
 * A PHP worker: a process that runs PHP for one environment and is killed afterwards. Leftovers of scripts, and scripts
 * that never end, therefore can't affect other environments.
 *
 * A spare has booted PHP before it knows its environment, and has usually rendered pages of a pristine template, so
 * that the opcode cache is filled. It changes to the environment's user before it accesses any of its files.
 */

import { flushCompileCache } from "node:module";
import { Socket } from "node:net";
import { freeDiskSync } from "../../freeDisk.ts";
import type { OutgoingMail } from "../../serving.ts";
import { bootPhp, type GuardedPhp } from "../php/boot.ts";
import { loadModule } from "../php/machineCode.ts";
import { setPackageSource } from "../php/platform.ts";
import { mountSite } from "../php/site.ts";
import type { NetworkRules } from "../php/socket.ts";
import { warmUp } from "../templates/warmUp.ts";
import { opcodeFilesOf, usableCompiled, usableExtensions } from "./compiled.ts";
import { enterEnvironment } from "./dropPrivileges.ts";
import { createFrameReader, frameKinds, type MailTaken, packMail, type RequestHead, sendFrame } from "./frames.ts";
import type { AssignOrder, BootOrder, Order, Report, WarmOrder } from "./messages.ts";
import { removeOldFiles } from "./oldFiles.ts";
import { answer } from "./request.ts";

/** The descriptor of the socket pair; the launcher puts it there. */
const requestDescriptor = 4;

let network: NetworkRules | null = null;
const requests = new Socket({ fd: requestDescriptor, readable: true, writable: true });

/** Messages that were handed over, and callbacks for when they are stored. */
const mails: ((taken: MailTaken) => void)[] = [];

async function handOver(mail: OutgoingMail): Promise<string | null> {
  const taken = new Promise<MailTaken>((resolve) => mails.push(resolve));
  sendFrame(requests, frameKinds.mail, packMail(mail));
  return (await taken).refusal;
}

function report(message: Report): void {
  process.send?.(message);
}

async function boot(order: BootOrder): Promise<GuardedPhp> {
  const { phpVersion, uploads } = order;
  const extensions = usableExtensions(order.extensions);
  const compiled = usableCompiled(order.compiled);
  const module = compiled === null ? null : await loadModule(phpVersion, compiled.machineCode);
  const opcodes = compiled === null ? null : opcodeFilesOf(compiled);
  const php = await bootPhp({
    version: phpVersion,
    network: () => network,
    opcodes,
    module,
    handOver,
    extensions,
    uploads,
  });
  report({ type: "ready" });
  return php;
}

async function warm(php: GuardedPhp, order: WarmOrder): Promise<void> {
  // A worker that gets an environment meanwhile renders its page sooner without warming up first.
  const isWanted = () => !isAssigned;
  if (isWanted()) await warmUp(php, order, isWanted);
  report({ type: "warm" });
  // Node writes the compile cache only at a process's end, and workers are killed.
  flushCompileCache();
}

async function assign(php: GuardedPhp, order: AssignOrder): Promise<void> {
  const own = enterEnvironment(order);
  network = own.network;
  php.limitMemory(own.memoryMb);
  setPackageSource(php, own.network.packageSource);
  const reserve = { folder: ".", bytes: own.diskReserveBytes };
  php.disk.keepFree(() => freeDiskSync(reserve));
  await mountSite(php, own.folders, { writes: php.writes, disk: php.disk });
  void removeOldFiles(own.folders.temporary);
}

function failed(error: unknown): never {
  report({ type: "failed", reason: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  process.exit(1);
}

let php: Promise<GuardedPhp> | null = null;
let isAssigned = false;
/** Requests wait for it: their channel is quicker than the orders, which come through the launcher. */
const assigned = Promise.withResolvers<GuardedPhp>();

process.on("message", (order: Order) => {
  if (order.type === "boot") {
    php = boot(order);
    php.catch(failed);
  } else if (php !== null) {
    const next = php.then(async (ready) => {
      await (order.type === "warm" ? warm(ready, order) : assign(ready, order));
      return ready;
    });
    next.catch(failed);
    php = next;
    if (order.type === "assign") {
      isAssigned = true;
      assigned.resolve(next);
    }
  }
});

/** Without the launcher, and so without the edge process, there is no work. */
const end = () => process.kill(process.pid, "SIGKILL");
process.on("disconnect", end);
// It may have ended while this module was being loaded.
if (!process.connected) end();

let head: RequestHead | null = null;
let body: Buffer[] = [];

const readFrame = createFrameReader(({ kind, content }) => {
  if (kind === frameKinds.head) head = JSON.parse(content.toString());
  else if (kind === frameKinds.mailTaken) mails.shift()?.(JSON.parse(content.toString()));
  else if (kind === frameKinds.body) body.push(Buffer.from(content));
  else if (head !== null) {
    const request = { head, body: Buffer.concat(body) };
    head = null;
    body = [];
    assigned.promise
      .then((ready) => {
        if (network !== null) network = { ...network, maySendMail: request.head.maySendMail };
        sendFrame(requests, frameKinds.begun, Buffer.alloc(0));
        return answer(ready, request, requests);
      })
      .catch(failed);
  }
});
requests.on("data", readFrame);
requests.on("close", end);
