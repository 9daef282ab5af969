/** Joins the edge's group, and starts a process that works for the server. Sends its id. Argument: the data folder. */
import { spawn } from "node:child_process";
import { joinEdgeGroup, leaveEdgeGroup, useProcessorGroups } from "../processor/companies.ts";

const [data = ""] = process.argv.slice(2);
useProcessorGroups(data);
joinEdgeGroup();
const child = spawn("sleep", ["60"], { stdio: "ignore" });
leaveEdgeGroup(child.pid);
process.send?.(child.pid);
