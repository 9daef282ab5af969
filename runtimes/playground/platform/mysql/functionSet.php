<?php
namespace WP_MySQL_Layer;

/** Functions about one subject: public methods with the functions' names. Arguments and results are SQLite's. */
abstract class Function_Set {
	/** Functions that may give another result for the same arguments within a statement. @var array<string, true> */
	public const VOLATILE = [];
	/**
	 * How many arguments a function takes. Needed for those that the driver registers: without a number, as it does, the
	 * layer's would replace the driver's, which SQLite refuses while another statement runs. @var array<string, int|int[]>
	 */
	public const ARGUMENTS = [];
	/**
	 * Aggregate functions: the method that takes one row's values. The method with the function's name takes what it
	 * returned last, and gives the result. @var array<string, string>
	 */
	public const AGGREGATES = [];

	protected Driver $driver;

	public function __construct( Driver $driver ) {
		$this->driver = $driver;
	}
}
