/**
 * A thread that ends its process when the one is gone which started it. The process itself could not: a script that never
 * ends keeps it from hearing of anything.
 */
import { Socket } from "node:net";
import { workerData } from "node:worker_threads";

const end = () => process.kill(process.pid, "SIGKILL");
const line = new Socket({ fd: Number(workerData), readable: true, writable: false });
line.on("error", end);
line.on("close", end);
line.resume();
