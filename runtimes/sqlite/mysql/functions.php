<?php
namespace WP_MySQL_Layer;

/**
 * The layer's functions. One is registered with SQLite, and its file loaded, when a statement first uses it: registering
 * all of them for each page would take longer than most of its statements.
 */
final class Functions {
	/** PDO::SQLITE_DETERMINISTIC, which PHP 8.5 deprecates. */
	private const DETERMINISTIC = 2048;
	/** Versions of SQLite that brought functions of its own that the layer uses. @var array<string, string> */
	private const SINCE = [ 'octet_length' => '3.43', 'concat_ws' => '3.44' ];

	private Driver $driver;
	/** @var array<string, array{string, string}> File and method of the functions that are not registered yet, by function. */
	private array $unused = [];
	/** Functions of the layer that are registered, as keys. @var array<string, true> */
	private array $registered = [];
	/** Functions of the layer that statements have called, as keys. Callers may empty it. @var array<string, true> */
	public array $called = [];
	/** @var array<string, Function_Set> Loaded sets by file. */
	private array $sets = [];

	public function __construct( Driver $driver ) {
		$this->driver = $driver;
		foreach ( require __DIR__ . '/functionFiles.php' as $file => $names ) {
			foreach ( $names as $name => $method ) {
				$this->unused[ is_int( $name ) ? $method : $name ] = [ $file, $method ];
			}
		}
		$present = $driver->get_sqlite_pdo()->getAttribute( \PDO::ATTR_SERVER_VERSION );
		foreach ( self::SINCE as $name => $version ) {
			if ( version_compare( $present, $version, '<' ) ) {
				$this->create( $name, $this->sets['backports'] ??= $this->load( 'backports' ), $name );
			}
		}
	}

	/** Makes a function available to SQLite. Does nothing if the layer has no function of this name (in lower case). */
	public function register( string $name ): void {
		if ( isset( $this->registered[ $name ] ) ) {
			$this->called[ $name ] = true;
			return;
		}
		if ( ! isset( $this->unused[ $name ] ) ) {
			return;
		}
		$this->registered[ $name ] = true;
		$this->called[ $name ]     = true;
		[ $file, $method ] = $this->unused[ $name ];
		unset( $this->unused[ $name ] );
		$this->create( $name, $this->sets[ $file ] ??= $this->load( $file ), $method );
	}

	private function create( string $name, Function_Set $set, string $method ): void {
		$pdo    = $this->driver->get_sqlite_pdo();
		$prefix = $pdo instanceof \Pdo\Sqlite ? 'create' : 'sqliteCreate';
		$step   = $set::AGGREGATES[ $method ] ?? null;
		$flags  = in_array( $method, $set::VOLATILE, true ) ? 0 : self::DETERMINISTIC;
		$call   = in_array( $name, $set::WITH_NULL, true )
			? [ $set, $method ]
			: static fn ( ...$arguments ) => in_array( null, $arguments, true ) ? null : $set->$method( ...$arguments );
		foreach ( (array) ( $set::ARGUMENTS[ $name ] ?? -1 ) as $arguments ) {
			if ( null !== $step ) {
				[ $pdo, "{$prefix}Aggregate" ]( $name, [ $set, $step ], [ $set, $method ], $arguments );
			} else {
				[ $pdo, "{$prefix}Function" ]( $name, $call, $arguments, $flags );
			}
		}
	}

	/** A class is named after its file: `dateFormats.php` has `Date_Format_Functions`. */
	private function load( string $file ): Function_Set {
		require_once __DIR__ . "/functions/$file.php";
		$class = __NAMESPACE__ . '\\' . ucfirst( preg_replace( '/(?=[A-Z])/', '_', rtrim( $file, 's' ) ) ) . '_Functions';
		return new $class( $this->driver );
	}
}
