<?php
namespace WP_MySQL_Layer;

/** Functions about one subject: public methods with the functions' names. Arguments and results are SQLite's. */
abstract class Function_Set {
	/** Functions that may give another result for the same arguments within a statement. @var array<string, true> */
	public const VOLATILE = [];
	/**
	 * How many arguments a function takes. Needed only for those that SQLite has as well: with this number, the layer's
	 * takes the place of SQLite's. @var array<string, int>
	 */
	public const ARGUMENTS = [];

	protected Driver $driver;

	public function __construct( Driver $driver ) {
		$this->driver = $driver;
	}
}
