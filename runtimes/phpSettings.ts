/** PHP's settings, the same with every engine. */
import { readFileSync } from "node:fs";
import { memoryFolder, sessionFolder } from "./phpFolders.ts";
import type { UploadLimits } from "./serving.ts";

/** Functions that start processes, and those that create links. */
export const disabledFunctions = [
  ...["exec", "shell_exec", "system", "passthru", "popen", "proc_open", "pcntl_exec", "pcntl_fork", "dl"],
  ...["symlink", "link"],
];

/** Returns the functions that a file of `platform/` defines instead of PHP. */
export function functionsReplacedBy(name: "mysqli" | "dns"): readonly string[] {
  const code = readFileSync(new URL(`./platform/${name}.php`, import.meta.url), "utf8");
  return [...code.matchAll(/^function (?!sitewright_)(\w+)\(/gm)].map(([, name = ""]) => name);
}

export const phpSettings = {
  "opcache.memory_consumption": 96,
  "opcache.interned_strings_buffer": 16,
  "opcache.max_accelerated_files": 8000,
  "opcache.validate_timestamps": 1,
  "opcache.revalidate_freq": 0,
  // A file changed within the last two seconds is not cached: it may change again within the same second.
  "opcache.file_update_protection": 2,
  // PHP can't start without this file, even if the disk is full.
  "opcache.lockfile_path": memoryFolder,
  display_errors: 0,
  display_startup_errors: 0,
  html_errors: 0,
  log_errors: 1,
  // As most hosts set it: a blank line before a script must not prevent it from sending headers.
  output_buffering: 4096,
  implicit_flush: 0,
  expose_php: 0,
  // Menus with a thousand items, and shops with many variations, are saved as one form.
  max_input_vars: 10_000,
  memory_limit: "256M",
  max_execution_time: 0,
  allow_url_include: 0,
  "session.save_path": sessionFolder,
  upload_tmp_dir: memoryFolder,
};

export function uploadSettings({ uploadBytes, formBytes }: UploadLimits): Record<string, number> {
  return { upload_max_filesize: uploadBytes, post_max_size: uploadBytes + formBytes };
}
