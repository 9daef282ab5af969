/**
 * `busyMachine.ts <count>`: uses the processors with so many processes that never pause, at the priority of most. To be started with a
 * session of its own, whose processes all have to be ended.
 */
import { spawn } from "node:child_process";
import { useNormalPriority } from "@sitewright/e2e/priority.ts";

useNormalPriority();
const [count = "1"] = process.argv.slice(2);
for (let started = 0; started < Number(count); started += 1) {
  spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" });
}
