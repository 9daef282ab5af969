<?php
namespace WP_MySQL_Layer;

/**
 * Functions about one subject: public methods. Arguments and results are SQLite's. As in MySQL, the result is NULL if an
 * argument is; the method is not called then.
 */
abstract class Function_Set {
	/** Functions that do get NULL as an argument. @var string[] */
	public const WITH_NULL = [];
	/** Methods that may give another result for the same arguments within a statement. @var string[] */
	public const VOLATILE = [];
	/**
	 * How many arguments a function takes. Needed for those that the driver registers: without a number, as it does, the
	 * layer's would replace the driver's, which SQLite refuses while another statement runs. @var array<string, int|int[]>
	 */
	public const ARGUMENTS = [];
	/**
	 * Aggregate functions: the method that takes one row's values, by the method of the result. Each gets what the first
	 * one returned last. @var array<string, string>
	 */
	public const AGGREGATES = [];

	protected Driver $driver;

	public function __construct( Driver $driver ) {
		$this->driver = $driver;
	}
}
