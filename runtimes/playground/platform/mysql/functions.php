<?php
namespace WP_MySQL_Layer;

use PDO;

/**
 * The layer's functions. One is registered with SQLite, and its file loaded, when a statement first uses it: registering
 * all of them for each page would take longer than most of its statements.
 */
final class Functions {
	private const CLASSES = [
		'arithmetic' => Arithmetic_Functions::class,
		'dates'      => Date_Functions::class,
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
		$set       = $this->sets[ $file ] ??= $this->load( $file );
		$arguments = $set::ARGUMENTS[ $name ] ?? -1;
		$flags     = isset( $set::VOLATILE[ $name ] ) ? 0 : PDO::SQLITE_DETERMINISTIC;
		$this->driver->get_sqlite_pdo()->sqliteCreateFunction( $name, [ $set, $name ], $arguments, $flags );
	}

	private function load( string $file ): Function_Set {
		require_once __DIR__ . '/functionSet.php';
		require_once __DIR__ . "/functions/$file.php";
		$class = self::CLASSES[ $file ];
		return new $class( $this->driver );
	}
}
