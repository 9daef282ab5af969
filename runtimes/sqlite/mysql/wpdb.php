<?php
namespace WP_MySQL_Layer;

use PDO;
use Throwable;

/** WordPress's `$wpdb` on the layer. */
class WPDB extends \WP_SQLite_DB {
	/** Bytes of an error's line in the log, and of its end if it is longer. */
	private const LONGEST_LINE = 4000;
	private const LINE_END     = 500;

	/** The SQL modes of a session that has set none, which the driver keeps to itself. */
	private const DEFAULT_MODES = [
		...[ 'ERROR_FOR_DIVISION_BY_ZERO', 'NO_ENGINE_SUBSTITUTION', 'NO_ZERO_DATE', 'NO_ZERO_IN_DATE', 'ONLY_FULL_GROUP_BY' ],
		...[ 'STRICT_TRANS_TABLES' ],
	];

	private ?Mysqli_Connection $mysqli = null;
	/** Messages of statements that work on MySQL but not here, as keys. @var array<string, true> */
	private array $refusals = [];

	/** Opens the database as the parent does, but with the layer, and without the parent's support for older places of it. */
	public function db_connect( $allow_bail = true ) {
		if ( $this->dbh ) {
			return $this->ready;
		}
		$this->last_error = '';
		try {
			$this->dbh = new Driver( $this->data_source(), null, null, [
				'sqlite_journal_mode'        => defined( 'SQLITE_JOURNAL_MODE' ) ? SQLITE_JOURNAL_MODE : null,
				// With less, a power cut can undo the deletion of the journal, and with it the transaction.
				'sqlite_synchronous'         => 'EXTRA',
				PDO::ATTR_STRINGIFY_FETCHES  => true,
			] );
		} catch ( Throwable $error ) {
			$this->last_error = $error->getMessage();
			return false;
		}
		$this->mysqli = null;
		// Plugins expect the connection to SQLite here.
		$GLOBALS['@pdo']     = $this->dbh->get_sqlite_pdo();
		$this->has_connected = true;
		if ( ! isset( $this->charset ) ) {
			$this->init_charset();
		}
		$this->set_charset( $this->dbh );
		// WooCommerce asks for a version only if it is.
		$this->is_mysql = true;
		$this->ready    = true;
		$this->set_first_sql_mode();
		return true;
	}

	/**
	 * Sets the initial SQL modes. Unlike `set_sql_mode()`, it does not query the current modes first, which are known in a new
	 * session, and it bypasses the layer, because many pages would load the classes for SET only for this statement.
	 */
	private function set_first_sql_mode(): void {
		$incompatible = (array) apply_filters( 'incompatible_sql_modes', $this->incompatible_modes );
		$modes        = implode( ',', array_diff( self::DEFAULT_MODES, $incompatible ) );
		$this->dbh->driver_query( "SET SESSION sql_mode='$modes'" );
		if ( defined( 'MYSQL_LAYER_TRANSLATIONS' ) ) {
			$this->dbh->keep_translations( MYSQL_LAYER_TRANSLATIONS, "$modes $this->dbname" );
		}
	}

	/** Returns a property for plugins. As the connection, they get an object that mysqli's functions take. */
	public function __get( $name ) {
		if ( 'dbh' === $name && $this->dbh instanceof Driver && class_exists( 'mysqli' ) ) {
			return $this->mysqli ??= new Mysqli_Connection( $this->dbh );
		}
		return parent::__get( $name );
	}

	/** Logs an error as the parent does, but in one line, and keeps MySQL's message instead of a report in HTML. */
	public function print_error( $str = '' ) {
		global $EZSQL_ERROR;
		$error = $this->dbh ? $this->dbh->last_error() : null;
		if ( ! $str && null !== $error ) {
			$this->last_error = $error[2];
		}
		$str           = $str ? $str : $this->last_error;
		$EZSQL_ERROR[] = [
			'query'     => $this->last_query,
			'error_str' => $str,
		];
		if ( $this->suppress_errors ) {
			return false;
		}
		if ( null !== $error && Errors::UNSUPPORTED === $error[1] ) {
			$this->refusals[ $error[2] ] = true;
		}
		$caller = $this->get_caller();
		$made   = '' === $caller ? '' : " made by $caller";
		error_log( self::in_one_line( "WordPress database error $str for query $this->last_query$made" ) . self::plugin() );
		if ( ! $this->show_errors ) {
			return false;
		}
		wp_load_translations_early();
		printf(
			'<div id="error"><p class="wpdberror"><strong>%s</strong> [%s]<br /><code>%s</code></p></div>',
			__( 'WordPress database error:' ),
			htmlspecialchars( $str, ENT_QUOTES ),
			htmlspecialchars( $this->last_query, ENT_QUOTES )
		);
	}

	/**
	 * Returns the messages of this request's statements that work on MySQL but not here.
	 *
	 * @return string[]
	 */
	public function refusals(): array {
		return array_keys( $this->refusals );
	}

	/** Returns a remark on the plugin that has sent the statement, or nothing. */
	private static function plugin(): string {
		$folder = defined( 'WP_PLUGIN_DIR' ) ? WP_PLUGIN_DIR . '/' : null;
		foreach ( null === $folder ? [] : debug_backtrace( DEBUG_BACKTRACE_IGNORE_ARGS ) as $call ) {
			if ( str_starts_with( $call['file'] ?? '', $folder ) ) {
				return ' in plugin ' . basename( explode( '/', substr( $call['file'], strlen( $folder ) ) )[0], '.php' );
			}
		}
		return '';
	}

	/** Returns what has sent the statement, from the outermost script on, without the classes of `$wpdb`. */
	public function get_caller() {
		$own     = static fn ( string $call ) => str_starts_with( $call, 'WP_SQLite_DB->' ) || str_starts_with( $call, __CLASS__ );
		$callers = array_filter( wp_debug_backtrace_summary( 'wpdb', 0, false ), static fn ( string $call ) => ! $own( $call ) );
		return implode( ', ', array_reverse( $callers ) );
	}

	/** Returns a text without line breaks, and without the middle if it is long. */
	private static function in_one_line( string $text ): string {
		$line = trim( preg_replace( '/[\s\x00-\x1f]+/', ' ', $text ) );
		return strlen( $line ) <= self::LONGEST_LINE
			? $line
			: substr( $line, 0, self::LONGEST_LINE - self::LINE_END ) . ' … ' . substr( $line, -self::LINE_END );
	}

	private function data_source(): string {
		$escape = static fn ( string $text ) => str_replace( ';', ';;', $text );
		return sprintf( 'mysql-on-sqlite:path=%s;dbname=%s', $escape( FQDB ), $escape( $this->dbname ) );
	}
}
