/**
 * First script of every npm command: node tools/bootstrap.cjs <file.ts> [arguments]
 *
 * Installs the packages if they are missing or differ from the lockfile, then replaces itself by the given program, run
 * with the Node version from the packages. With --install in place of a program, it only installs. On a fresh clone this script runs with the system's Node (14.18 or newer),
 * so it uses only JavaScript of that version. It never writes to standard output, which belongs to the program.
 */
"use strict";

const childProcess = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");

const root = path.dirname(__dirname);
const modules = path.join(root, "node_modules");
const node = path.join(modules, ".bin", "node");
/** In place of a program: only install. The second is for the holder of the lock. */
const installOnly = "--install";
const installLocked = "--install-locked";
const oldestNpm = 7;
/**
 * With an older Node, such as Debian 12's, npm leaves out optional packages that ask for a newer one, among them the compiler that
 * builds the console. Then the packages are installed by this npm, with the Node of the lockfile.
 */
const oldestNode = [20, 19];
const newerNpm = "npm@11.19.1";

/**
 * Files of packages that are never loaded, half of the total size: PHP versions that Sitewright does not offer, PHP
 * builds for Node without JSPI (ours has it), unused PHP extensions, Node's headers, and the modules of the API
 * reference, whose bundle is served, and the console's components and charts for other module systems.
 */
const unused = [
  ["@php-wasm", /^node-(5-2|7-4|8-0)$/, ["asyncify", "jspi"]],
  ["@php-wasm", /^node-\d+-\d+$/, ["asyncify"]],
  ["@php-wasm", /^node-\d+-\d+$/, ["memcached", "redis", "xdebug"].map((name) => `jspi/extensions/${name}`)],
  ["openapi-explorer", /^dist$/, ["es", "lib"]],
  ["@mantine", /^(core|form|hooks)$/, ["cjs"]],
  [".", /^recharts$/, ["lib", "umd"]],
  ["node/node_modules", /^node-/, ["include", "share"]],
];

/** Files of packages that earlier versions of Sitewright removed. Without them, the packages are installed again. */
const restored = [["@php-wasm/node", "shared/icu.dat"]];

main(process.argv[2], process.argv.slice(3)).catch((error) => fail(error.message));

async function main(script, parameters) {
  if (script === undefined) {
    fail("Usage: node tools/bootstrap.cjs <file.ts> [arguments], or --install");
    return;
  }
  if (script === installLocked) {
    // Another run may have installed them while this one waited for the lock.
    if (!isInstalled()) {
      await install();
    }
    return;
  }
  if (!isInstalled()) {
    requireNpm(process.env.npm_config_user_agent || "");
    requireWritable();
    await installWithLock();
  }
  if (script === installOnly) {
    return;
  }
  runProgram([node, path.join(root, script)].concat(parameters));
}

/**
 * Compares npm's record of installed packages with the lockfile: file times would be wrong after a git checkout. Also
 * looks for each package's folder, because an interrupted removal leaves the record.
 */
function isInstalled() {
  const wanted = packagesIn(path.join(root, "package-lock.json"));
  const found = packagesIn(path.join(modules, ".package-lock.json"));
  if (wanted === null) {
    throw new Error("package-lock.json is missing or damaged. Restore it: git checkout package-lock.json");
  }
  return (
    found !== null &&
    fs.existsSync(node) &&
    Object.keys(wanted).every((name) => isSame(wanted[name], found[name], name)) &&
    restored.every(([name, file]) => !exists(name) || exists(path.join(name, file)))
  );
}

function exists(file) {
  return fs.existsSync(path.join(modules, file));
}

function packagesIn(file) {
  try {
    return JSON.parse(fs.readFileSync(file, "utf8")).packages;
  } catch (_) {
    return null;
  }
}

function isSame(wanted, found, name) {
  if (name.indexOf("node_modules/") !== 0) {
    return true;
  }
  if (found === undefined) {
    return Boolean(wanted.optional || wanted.devOptional || wanted.peer);
  }
  return (
    wanted.version === found.version &&
    wanted.integrity === found.integrity &&
    wanted.link === found.link &&
    fs.existsSync(path.join(root, name))
  );
}

/** Older versions can't read the lockfile. `userAgent` is how npm names itself: `npm/10.9.2 node/v22.12.0 linux x64`. */
function requireNpm(userAgent) {
  const found = /^npm\/((\d+)\.\S*)/.exec(userAgent);
  if (found !== null && Number(found[2]) < oldestNpm) {
    throw new Error(
      `npm ${found[1]} is too old: Sitewright needs npm ${oldestNpm} or newer. Update it: npm install -g npm@7`,
    );
  }
}

function requireWritable() {
  try {
    fs.accessSync(root, fs.constants.W_OK);
  } catch (_) {
    throw new Error(`Packages can't be installed because this folder is not writable: ${root}`);
  }
}

/**
 * Concurrent runs would remove each other's packages. The lock is released when its holder ends, even if it is killed.
 */
function installWithLock() {
  const locks = path.join(root, ".cache");
  fs.mkdirSync(locks, { recursive: true });
  const parameters = [path.join(locks, "install.lock"), process.execPath, __filename, installLocked];
  return new Promise((resolve, reject) => {
    const locked = childProcess.spawn("flock", parameters, { stdio: ["ignore", 2, 2] });
    // Not every system has flock.
    locked.on("error", () => install().then(resolve, reject));
    locked.on("exit", (code) => (code === 0 ? resolve() : process.exit(code === null ? 1 : code)));
  });
}

function install() {
  log("Installing the packages that Sitewright needs (only once, takes about a minute) …");
  const started = Date.now();
  const seconds = () => Math.round((Date.now() - started) / 1000);
  const timer = setInterval(() => log(`  still installing, ${seconds()} s`), 10000);
  const toolPath = newerToolPath();
  return new Promise((resolve) => {
    const npm = childProcess.spawn(
      "npm",
      ["ci", "--prefer-offline", "--include=dev", "--include=optional", "--loglevel=error"],
      {
        cwd: root,
        env: Object.assign({}, process.env, { PATH: toolPath }),
        stdio: ["ignore", 2, 2],
      },
    );
    npm.on("error", () => fail("npm was not found. Install Node.js with npm (https://nodejs.org), then try again."));
    npm.on("exit", (code, signal) => {
      clearInterval(timer);
      if (code !== 0) {
        fail(
          `The packages could not be installed: npm ci ended with ${signal || `code ${code}`} (see above).\n` +
            "If the registry could not be reached, check the network and: npm config get registry\n" +
            "Then run the same command again. No cleanup is needed.",
        );
      } else if (!fs.existsSync(node)) {
        fail(
          "The packages are installed, but Node.js is not: npm did not run its install script.\n" +
            "Allow install scripts (npm config get ignore-scripts), then run: npm rebuild node",
        );
      } else {
        prune();
        log(`  installed in ${seconds()} s`);
        resolve();
      }
    });
  });
}

/**
 * PATH with an npm that can install all packages: the system's if its Node is new enough. Otherwise a newer one is fetched; if that
 * fails, the system's installs what it can.
 */
function newerToolPath() {
  const env = Object.assign({}, process.env, { PATH: systemPath() });
  const found = childProcess.spawnSync("node", ["--version"], { env: env, encoding: "utf8" });
  const [major, minor] = String(found.stdout || "v99.0")
    .slice(1)
    .split(".")
    .map(Number);
  if (major > oldestNode[0] || (major === oldestNode[0] && minor >= oldestNode[1])) {
    return env.PATH;
  }
  const folder = path.join(root, ".cache", "npm");
  const wanted = packagesIn(path.join(root, "package-lock.json"))["node_modules/node"];
  childProcess.spawnSync(
    "npm",
    ["install", "--prefix", folder, "--no-save", "--loglevel=error", newerNpm, `node@${wanted.version}`],
    { cwd: root, env: env, stdio: ["ignore", 2, 2] },
  );
  return [path.join(folder, "node_modules", ".bin"), env.PATH].join(path.delimiter);
}

function prune() {
  for (const [folder, names, parts] of unused) {
    const parent = path.join(modules, folder);
    const found = fs.existsSync(parent) ? fs.readdirSync(parent).filter((name) => names.test(name)) : [];
    for (const name of found) {
      for (const part of parts) {
        fs.rmSync(path.join(parent, name, part), { recursive: true, force: true });
      }
    }
  }
}

/** PATH without our `.bin`: npm must not run with the Node that it is about to replace. */
function systemPath() {
  const ours = path.join("node_modules", ".bin");
  return (process.env.PATH || "")
    .split(path.delimiter)
    .filter((entry) => entry.slice(-ours.length) !== ours)
    .join(path.delimiter);
}

/** Replaces this process by the program. If this Node can't do that, starts it as a child and forwards signals. */
function runProgram(command) {
  const env = Object.assign({}, process.env, {
    PATH: [path.join(modules, ".bin"), systemPath()].join(path.delimiter),
    // Shared by all processes, so that each module is compiled once.
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE || path.join(modules, ".cache", "sitewright"),
  });
  if (typeof process.execve === "function") {
    process.execve(command[0], command, env);
  }
  const program = childProcess.spawn(command[0], command.slice(1), {
    env: env,
    stdio: ["inherit", "inherit", "inherit", "ipc"],
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(signal, () => program.kill(signal));
  }
  const parent = process.ppid;
  // npm can be killed, and then forwards no signal.
  setInterval(() => process.ppid === parent || program.kill("SIGTERM"), 500).unref();
  program.on("error", (error) => fail(`${command[0]} could not be started: ${error.message}`));
  program.on("exit", (code, signal) => {
    if (signal === null) {
      process.exit(code);
    }
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

function log(text) {
  process.stderr.write(`${text}\n`);
}

function fail(text) {
  log(text);
  process.exit(1);
}
