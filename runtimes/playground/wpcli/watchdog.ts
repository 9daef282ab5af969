/**
 * A thread that kills its process when the parent process is gone. The main thread can't do that: a script that never
 * ends keeps it from receiving events.
 */
import { Socket } from "node:net";
import { parentPort, workerData } from "node:worker_threads";

const end = () => process.kill(process.pid, "SIGKILL");
const line = new Socket({ fd: Number(workerData), readable: true, writable: false });
line.on("error", end);
line.on("close", end);
line.resume();
parentPort?.postMessage("loaded");
