/** DNS tools, from Debian's packages bind9-dnsutils, bind9-utils, knot-dnsutils and knot. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);
/** Adds Debian's folder of servers, which is not in every user's PATH. */
export const toolsEnvironment = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` };

/** Runs a tool and returns its output. Rejects with an explanation if it fails or is not installed. */
export async function tool(command: string, ...parameters: readonly string[]): Promise<string> {
  try {
    return (await run(command, parameters, { env: toolsEnvironment, maxBuffer: 64 * 1024 * 1024 })).stdout;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") {
      throw new Error(`${command} is missing: apt-get install bind9-dnsutils bind9-utils knot-dnsutils knot`);
    }
    const output = error instanceof Error && "stdout" in error ? String(error.stdout) : "";
    throw new Error(`${command} ${parameters.join(" ")}: ${error}\n${output}`);
  }
}

export const dig = (port: number, ...parameters: readonly string[]): Promise<string> =>
  tool("dig", "@127.0.0.1", "-p", String(port), "+tries=1", "+time=10", ...parameters);

export const kdig = (port: number, ...parameters: readonly string[]): Promise<string> =>
  tool("kdig", "@127.0.0.1", "-p", String(port), "+retry=0", "+time=10", ...parameters);

/** The records in a tool's output, with single spaces. */
export const recordsIn = (output: string): string[] =>
  output
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith(";"))
    .map((line) => line.replace(/\s+/g, " "));
