/**
 * Compiles every WordPress script to opcode files, and PHP to machine code. Main module of a process that does this
 * once.
 */
import { readdir, writeFile } from "node:fs/promises";
import type { PHP } from "@php-wasm/universal";
import { serveJob } from "../../job.ts";
import { siteFolder } from "../../phpFolders.ts";
import { bootPhp } from "../php/boot.ts";
import { compileEagerly, machineCodeOf } from "../php/machineCode.ts";
import { mountTemplate } from "../php/site.ts";
import { readProgram, runProgram } from "../wpcli/program.ts";
import { copyDatabase, type WarmUp, warmUp } from "./warmUp.ts";

export interface CompileJob extends WarmUp {
  readonly phpVersion: string;
  /** Path of WP-CLI. */
  readonly wpCli: string;
  /** Empty folder for the opcode files. */
  readonly opcodes: string;
  /** Path of the machine code file, which must not exist. */
  readonly machineCode: string;
}

/** A WP-CLI command whose scripts are compiled: the scripts that every command needs. */
const command = ["plugin", "list"] as const;

/** How often the first pages are rendered, so that V8 has optimised the functions they use. */
const pageRounds = 2;

/**
 * Compiles scripts until PHP stops. Compiling a script declares its functions, and a few scripts declare the same
 * function; the second one fails. The next request starts without these declarations and compiles some of the remaining
 * scripts.
 *
 * A script that uses a class above its declaration is skipped: in compiled code PHP declares the class only where its
 * declaration is, and the script would fail with "Class not found".
 */
const compileCode = `<?php
function uses_class_before_declaration( string $path ): bool {
	$code = file_get_contents( $path );
	// Tokenizing is slow, and most scripts name a class above its declaration only in comments, if at all.
	preg_match_all( '/^[ \\t]*(?:(?:abstract|final|readonly)\\s+)*(?:class|interface|trait|enum)\\s+(\\w+)/mi', $code, $found, PREG_OFFSET_CAPTURE );
	foreach ( $found[1] as [ $name, $offset ] ) {
		if ( preg_match( "/\\b{$name}\\b/i", substr( $code, 0, $offset ) ) && has_early_use( $code ) ) return true;
	}
	return false;
}
function has_early_use( string $code ): bool {
	$named = [];
	$is_declared = false;
	foreach ( PhpToken::tokenize( $code ) as $token ) {
		if ( $token->isIgnorable() ) continue;
		if ( $token->is( [ T_STRING, T_NAME_QUALIFIED, T_NAME_FULLY_QUALIFIED, T_NAME_RELATIVE ] ) ) {
			$name = strtolower( basename( strtr( $token->text, '\\\\', '/' ) ) );
			if ( $is_declared && isset( $named[ $name ] ) ) return true;
			if ( ! $is_declared ) $named[ $name ] = true;
		}
		$is_declared = $token->is( [ T_CLASS, T_INTERFACE, T_TRAIT, T_ENUM ] );
	}
	return false;
}
$scripts = new RecursiveIteratorIterator( new RecursiveDirectoryIterator( '${siteFolder}', FilesystemIterator::SKIP_DOTS ) );
$compiled = 0;
foreach ( $scripts as $script ) {
	$path = (string) $script;
	if ( ! str_ends_with( $path, '.php' ) || $path === '${siteFolder}/wp-config.php' || opcache_is_script_cached( $path ) ) continue;
	try {
		if ( uses_class_before_declaration( $path ) ) continue;
		@opcache_compile_file( $path );
		$compiled += (int) opcache_is_script_cached( $path );
	} catch ( Throwable ) {
	}
}
echo $compiled;
`;

/** Runs one round. Returns how many scripts it has compiled. */
async function compileRound(php: PHP): Promise<number> {
  const response = await php.runStream({ code: compileCode });
  const text = await response.stdoutText;
  if (!/^\d+$/.test(text)) throw new Error(`Compiling WordPress failed: ${text.slice(0, 2000)}`);
  return Number(text);
}

async function compileScripts(php: PHP, job: CompileJob): Promise<void> {
  const unmount = await mountTemplate(php, job);
  let compiled = 0;
  for (let round = await compileRound(php); round > 0; round = await compileRound(php)) compiled += round;
  const names = await readdir(job.opcodes, { recursive: true });
  const files = names.filter((name) => name.includes(`${siteFolder}/`) && name.endsWith(".php.bin"));
  // PHP reports no error if it can't write a file, for example on a full disk.
  if (files.length < compiled)
    throw new Error(`Only ${files.length} of ${compiled} compiled scripts could be written.`);
  await unmount();
}

/** Runs the WP-CLI command, so that PHP stores its compiled scripts. */
async function compileProgram(php: PHP, job: CompileJob): Promise<void> {
  await mountTemplate(php, job);
  copyDatabase(php, job.template);
  readProgram(job.wpCli)(php);
  const response = await runProgram(php, command);
  const [exitCode, errors] = await Promise.all([response.exitCode, response.stderrText, response.stdoutText]);
  if (exitCode !== 0) throw new Error(`WP-CLI's ${command.join(" ")} ended with ${exitCode}: ${errors}`);
}

async function compile(job: CompileJob): Promise<void> {
  const { phpVersion } = job;
  const module = await compileEagerly(phpVersion);
  const opcodes = { folder: job.opcodes, kind: "unprotected" } as const;
  const boot = { version: phpVersion, network: () => null, opcodes, module };
  const php = await bootPhp(boot);
  await compileScripts(php, job);
  for (let round = 0; round < pageRounds; round += 1) await warmUp(php, job, () => true);
  await compileProgram(await bootPhp(boot), job);
  await writeFile(job.machineCode, machineCodeOf(module));
}

if (import.meta.main) serveJob(compile);
