<?php
/**
 * Lets commands work on a site that can't be loaded. --skip-plugins and --skip-themes leave out plugins and themes, but not
 * drop-ins and must-use plugins. If these keep WordPress from loading, a command with one of the options runs once more
 * without them. It has not begun then, so it still runs once.
 *
 * They are not left out from the start: a working object cache must learn of the changes that a command makes.
 */

final class Sitewright_Loading {
	/** Files in wp-content that WordPress loads by their names, except for the one that opens the database. */
	public const DROP_INS = array(
		'advanced-cache.php',
		'blog-deleted.php',
		'blog-inactive.php',
		'blog-suspended.php',
		'db-error.php',
		'fatal-error-handler.php',
		'install.php',
		'maintenance.php',
		'object-cache.php',
		'php-error.php',
		'sunrise.php',
	);
	private const SAFE_OPTION = '--require=' . __DIR__ . '/wpCliSafe.php';
	private const HINT        = 'Hint: Add --skip-plugins --skip-themes to run a command without plugins and themes, and,'
		. ' if they fail too, without drop-ins and must-use plugins.';

	private bool $is_loading = false;
	private bool $has_failed = false;
	/** Output while WordPress loads: only a command that does not run again prints it. */
	private string $held = '';

	public function watch(): void {
		WP_CLI::add_hook( 'before_wp_load', fn() => $this->begin() );
		WP_CLI::add_hook( 'after_wp_load', fn() => $this->is_loading = false );
		// Some commands run before WordPress is complete.
		WP_CLI::add_hook( 'before_run_command', fn() => $this->is_loading = false );
		register_shutdown_function( fn() => $this->end() );
	}

	/** Returns the paths in wp-content of drop-ins and must-use plugins. */
	public static function left_out(): array {
		$files = array_map( static fn( $name ) => ABSPATH . "wp-content/$name", self::DROP_INS );
		$all   = array_merge( array_filter( $files, 'is_file' ), glob( ABSPATH . 'wp-content/mu-plugins/*.php' ) ?: array() );
		return array_map( static fn( $path ) => substr( $path, strlen( ABSPATH . 'wp-content/' ) ), $all );
	}

	private function begin(): void {
		$this->is_loading = true;
		if ( $this->may_run_again() ) {
			ob_start( fn( $text ) => $this->hold( $text ), 1 );
		}
	}

	private function may_run_again(): bool {
		$is_safe  = in_array( self::SAFE_OPTION, $GLOBALS['argv'], true );
		$is_asked = WP_CLI::get_config( 'skip-plugins' ) || WP_CLI::get_config( 'skip-themes' );
		return ! $is_safe && $is_asked && array() !== self::left_out();
	}

	private function hold( string $text ): string {
		if ( $this->has_failed ) {
			return '';
		}
		$this->held .= $text;
		if ( $this->is_loading ) {
			return '';
		}
		$shown      = $this->held;
		$this->held = '';
		return $shown;
	}

	/** Runs when PHP ends, for whatever reason. */
	private function end(): void {
		if ( ! $this->is_loading ) {
			return;
		}
		$this->has_failed = $this->may_run_again();
		if ( $this->has_failed ) {
			exit( $this->run_again() );
		}
		$this->is_loading = false;
		$error            = error_get_last();
		if ( null !== $error && 0 !== ( $error['type'] & ( E_ERROR | E_PARSE | E_COMPILE_ERROR | E_CORE_ERROR ) ) ) {
			fwrite( STDERR, self::HINT . "\n" );
		}
	}

	/** Runs the command in another process. Returns its exit code. */
	private function run_again(): int {
		$words   = array( PHP_BINARY, ...$GLOBALS['argv'], self::SAFE_OPTION );
		$command = implode( ' ', array_map( 'escapeshellarg', $words ) );
		$process = proc_open( $command, array( 1 => array( 'pipe', 'w' ), 2 => array( 'pipe', 'w' ) ), $pipes );
		fwrite( STDOUT, stream_get_contents( $pipes[1] ) );
		fwrite( STDERR, stream_get_contents( $pipes[2] ) );
		return proc_close( $process );
	}
}

( new Sitewright_Loading() )->watch();
