/** Compiles every script of WordPress into files of opcodes: the main module of a process that does this once. */
import { readdir } from "node:fs/promises";
import type { PHP } from "@php-wasm/universal";
import { bootPhp } from "../php/boot.ts";
import { siteFolder } from "../php/folders.ts";
import { mountTemplate } from "../php/site.ts";
import { serveJob } from "./job.ts";

export interface CompileJob {
  readonly phpVersion: string;
  readonly template: string;
  readonly core: string;
  /** Empty folder, which gets the files. */
  readonly opcodes: string;
}

/**
 * Compiling a script declares its functions, and a few scripts declare the same ones; whichever comes second fails.
 * The next request has forgotten them, so it compiles some of those that are left.
 */
const compileCode = `<?php
$scripts = new RecursiveIteratorIterator( new RecursiveDirectoryIterator( '${siteFolder}', FilesystemIterator::SKIP_DOTS ) );
$compiled = 0;
foreach ( $scripts as $script ) {
	$path = (string) $script;
	if ( ! str_ends_with( $path, '.php' ) || $path === '${siteFolder}/wp-config.php' || opcache_is_script_cached( $path ) ) continue;
	try {
		@opcache_compile_file( $path );
		$compiled += (int) opcache_is_script_cached( $path );
	} catch ( Throwable ) {
	}
}
echo $compiled;
`;

/** How many scripts this round has compiled. */
async function compileRound(php: PHP): Promise<number> {
  const response = await php.runStream({ code: compileCode });
  const text = await response.stdoutText;
  if (!/^\d+$/.test(text)) throw new Error(`Compiling WordPress failed: ${text.slice(0, 2000)}`);
  return Number(text);
}

async function compile({ phpVersion, template, core, opcodes }: CompileJob): Promise<void> {
  const php = await bootPhp({ version: phpVersion, network: () => null, opcodes: { folder: opcodes, kind: "own" } });
  await mountTemplate(php, { template, core });
  let compiled = 0;
  for (let round = await compileRound(php); round > 0; round = await compileRound(php)) compiled += round;
  const names = await readdir(opcodes, { recursive: true });
  const files = names.filter((name) => name.includes(`${siteFolder}/`) && name.endsWith(".php.bin"));
  // PHP says nothing where a file can't be written, on a full disk for example.
  if (files.length < compiled)
    throw new Error(`Only ${files.length} of ${compiled} compiled scripts could be written.`);
}

if (import.meta.main) serveJob(compile);
