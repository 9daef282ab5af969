<?php
namespace WP_MySQL_Layer;

/**
 * The layer's functions. One is registered with SQLite, and its file loaded, when a statement first uses it: registering
 * all of them for each page would take longer than most of its statements.
 */
final class Functions {
	/** PDO::SQLITE_DETERMINISTIC, which PHP 8.5 deprecates. */
	private const DETERMINISTIC = 2048;

	private const CLASSES = [
		'arithmetic'  => Arithmetic_Functions::class,
		'casts'       => Cast_Functions::class,
		'collations'  => Collation_Functions::class,
		'codes'       => Code_Functions::class,
		'dateFormats' => Date_Format_Functions::class,
		'dates'       => Date_Functions::class,
		'expressions' => Expression_Functions::class,
		'fulltext'    => Fulltext_Functions::class,
		'intervals'   => Interval_Functions::class,
		'json'        => Json_Functions::class,
		'locks'       => Lock_Functions::class,
		'numbers'     => Number_Functions::class,
		'points'      => Point_Functions::class,
		'sessions'    => Session_Functions::class,
		'statistics'  => Statistic_Functions::class,
		'texts'       => Text_Functions::class,
		'variables'   => Variable_Functions::class,
		'tables'      => Table_Functions::class,
	];

	private Driver $driver;
	/** @var array<string, string> Files of functions that are not registered yet, by function. */
	private array $files;
	/** @var array<string, Function_Set> Loaded sets by file. */
	private array $sets = [];

	public function __construct( Driver $driver ) {
		$this->driver = $driver;
		$this->files  = require __DIR__ . '/functionFiles.php';
	}

	/** Makes a function available to SQLite. Does nothing if the layer has no function of this name (in lower case). */
	public function register( string $name ): void {
		$file = $this->files[ $name ] ?? null;
		if ( null === $file ) {
			return;
		}
		unset( $this->files[ $name ] );
		$set = $this->sets[ $file ] ??= $this->load( $file );
		$this->create( $name, $set );
	}

	private function create( string $name, Function_Set $set ): void {
		$pdo    = $this->driver->get_sqlite_pdo();
		$prefix = $pdo instanceof \Pdo\Sqlite ? 'create' : 'sqliteCreate';
		$step   = $set::AGGREGATES[ $name ] ?? null;
		foreach ( (array) ( $set::ARGUMENTS[ $name ] ?? -1 ) as $arguments ) {
			if ( null !== $step ) {
				[ $pdo, "{$prefix}Aggregate" ]( $name, [ $set, $step ], [ $set, $name ], $arguments );
			} else {
				$flags = isset( $set::VOLATILE[ $name ] ) ? 0 : self::DETERMINISTIC;
				[ $pdo, "{$prefix}Function" ]( $name, [ $set, $name ], $arguments, $flags );
			}
		}
	}

	private function load( string $file ): Function_Set {
		require_once __DIR__ . '/functionSet.php';
		require_once __DIR__ . "/functions/$file.php";
		$class = self::CLASSES[ $file ];
		return new $class( $this->driver );
	}
}
