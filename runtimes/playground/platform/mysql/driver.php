<?php
namespace WP_MySQL_Layer;

/** The driver with the layer. */
class Driver extends \WP_MySQL_On_SQLite {
	private Functions $functions;
	/** Not set while the driver itself is being set up. */
	private Rewriter $rewriter;
	private Statements $statements;

	public function __construct( string $dsn, ?string $username = null, ?string $password = null, ?array $options = null ) {
		parent::__construct( $dsn, $username, $password, $options );
		$this->functions  = new Functions( $this );
		$this->rewriter   = new Rewriter( $this, $this->functions );
		$this->statements = new Statements( $this );
	}

	public function create_parser( string $query ): \WP_MySQL_Parser {
		$parser = parent::create_parser( $query );
		return isset( $this->rewriter ) ? new Parser( $parser, $this->rewriter ) : $parser;
	}

	#[\ReturnTypeWillChange]
	public function query( string $query, ?int $fetch_mode = null, ...$fetch_mode_args ) {
		$result = isset( $this->statements ) ? $this->statements->answer( $query ) : null;
		if ( null === $result ) {
			return parent::query( $query, $fetch_mode, ...$fetch_mode_args );
		}
		if ( null !== $fetch_mode ) {
			$result->setFetchMode( $fetch_mode, ...$fetch_mode_args );
		}
		return $result;
	}

	/** Makes a function of the layer available to SQLite, for statements that are not rewritten. */
	public function register_function( string $name ): void {
		$this->functions->register( $name );
	}

	/**
	 * Returns rows as the result of a statement.
	 *
	 * @param string[]  $columns Column names.
	 * @param mixed[][] $rows    Lists of values, in the order of the columns.
	 */
	public function result( array $columns, array $rows, string $query ): \PDOStatement {
		$pdo    = $this->get_sqlite_pdo();
		$quote  = static fn ( $value ) => null === $value ? 'NULL' : $pdo->quote( (string) $value );
		$select = static fn ( array $values ) => 'SELECT ' . implode( ', ', array_map(
			static fn ( $value, string $column ) => $quote( $value ) . ' AS `' . str_replace( '`', '``', $column ) . '`',
			$values,
			$columns
		) );
		$sql    = [] === $rows
			? $select( array_fill( 0, count( $columns ), null ) ) . ' WHERE 0'
			: implode( ' UNION ALL ', array_map( $select, $rows ) );
		return $this->wrap( $this->execute_sqlite_query( $sql ), $query );
	}

	/** Returns a statement of SQLite as a result of MySQL. */
	public function wrap( \PDOStatement $statement, string $query, ?int $affected_rows = null ): \PDOStatement {
		$meta = static fn ( int $column ) => $statement->getColumnMeta( $column );
		return new \WP_MySQL_On_SQLite_Statement( $statement, $query, $meta, $affected_rows );
	}
}
