<?php
namespace WP_MySQL_Layer;

class_alias( PHP_VERSION_ID >= 80400 ? \Pdo\Sqlite::class : \PDO::class, __NAMESPACE__ . '\Sqlite_PDO' );

/** The connection to SQLite. */
class Connection extends Sqlite_PDO {
	/** Whether an error must not undo more than its statement. */
	public ?Transactions $transactions = null;

	/** The driver undoes the whole transaction if a statement fails. `Transactions` undoes the statement instead. */
	#[\ReturnTypeWillChange]
	public function prepare( string $query, array $options = [] ) {
		$is_refused = 'ROLLBACK' === $query && null !== $this->transactions && $this->transactions->protects();
		return parent::prepare( $is_refused ? 'SELECT 1' : $query, $options );
	}
}
