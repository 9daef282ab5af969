<?php
namespace WP_MySQL_Layer;

use WP_Parser_Node;

/** Tables of `information_schema`: those that the driver doesn't have, and the figures about tables. */
final class Information_Schema_Tables implements Rule {
	private const TABLES     = [
		...[ 'TABLE_CATALOG', 'TABLE_SCHEMA', 'TABLE_NAME', 'TABLE_TYPE', 'ENGINE', 'VERSION', 'ROW_FORMAT', 'TABLE_ROWS' ],
		...[ 'AVG_ROW_LENGTH', 'DATA_LENGTH', 'MAX_DATA_LENGTH', 'INDEX_LENGTH', 'DATA_FREE', 'AUTO_INCREMENT', 'CREATE_TIME' ],
		...[ 'UPDATE_TIME', 'CHECK_TIME', 'TABLE_COLLATION', 'CHECKSUM', 'CREATE_OPTIONS', 'TABLE_COMMENT' ],
	];
	/** As in MySQL, each table without partitions has one row. Its columns about partitions are NULL, and its comments are empty. */
	private const PARTITIONS = [
		...[ 'TABLE_CATALOG', 'TABLE_SCHEMA', 'TABLE_NAME', 'PARTITION_NAME', 'SUBPARTITION_NAME', 'PARTITION_ORDINAL_POSITION' ],
		...[ 'SUBPARTITION_ORDINAL_POSITION', 'PARTITION_METHOD', 'SUBPARTITION_METHOD', 'PARTITION_EXPRESSION' ],
		...[ 'SUBPARTITION_EXPRESSION', 'PARTITION_DESCRIPTION', 'TABLE_ROWS', 'AVG_ROW_LENGTH', 'DATA_LENGTH', 'MAX_DATA_LENGTH' ],
		...[ 'INDEX_LENGTH', 'DATA_FREE', 'CREATE_TIME', 'UPDATE_TIME', 'CHECK_TIME', 'CHECKSUM', 'PARTITION_COMMENT', 'NODEGROUP' ],
		...[ 'TABLESPACE_NAME' ],
	];
	private const COMMENTS   = [ 'PARTITION_COMMENT', 'NODEGROUP' ];
	private const FIGURES    = [ 'TABLE_ROWS', 'AVG_ROW_LENGTH', 'DATA_LENGTH', 'INDEX_LENGTH' ];

	public function nodes(): array {
		return [ 'tableRef' ];
	}

	public function rewrite( WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		$names = array_map( [ Schema::class, 'name_of' ], $node->get_descendant_nodes( 'identifier' ) );
		if ( 2 !== count( $names ) || 'information_schema' !== strtolower( $names[0] ) ) {
			return null;
		}
		$driver = $rewriting->driver;
		$driver->schema()->settle_collations();
		if ( 'tables' === strtolower( $names[1] ) ) {
			return $this->about_tables( self::TABLES, $node, $node, $rewriting );
		}
		if ( 'partitions' === strtolower( $names[1] ) ) {
			$tables = $this->parsed( 'SELECT * FROM information_schema.tables', 'tableRef', $driver );
			return $this->about_tables( self::PARTITIONS, $tables, $node, $rewriting );
		}
		$table = ( new Server_Tables( $driver ) )->get( strtolower( $names[1] ) );
		if ( null === $table ) {
			return null;
		}
		$subquery = $this->parsed( 'SELECT * FROM (' . Listing::select( ...$table ) . ') AS listing', 'subquery', $driver );
		return $rewriting->sequence( [ $subquery ], $node );
	}

	/**
	 * A query for columns of each table.
	 *
	 * @param string[]       $columns
	 * @param WP_Parser_Node $tables The driver's table of them.
	 */
	private function about_tables( array $columns, WP_Parser_Node $tables, WP_Parser_Node $place, Rewriting $rewriting ): WP_Parser_Node {
		$rewriting->driver->register_function( 'mysql_table_figure' );
		$results = implode( ', ', array_map( [ self::class, 'result' ], $columns ) );
		return $rewriting->sequence( [ "(SELECT $results FROM", $tables, ')' ], $place );
	}

	private static function result( string $column ): string {
		if ( in_array( $column, self::FIGURES, true ) ) {
			return "mysql_table_figure(TABLE_NAME, '$column') AS $column";
		}
		if ( in_array( $column, self::COMMENTS, true ) ) {
			return "'' AS $column";
		}
		return in_array( $column, self::TABLES, true ) ? $column : "NULL AS $column";
	}

	private function parsed( string $statement, string $node, Driver $driver ): WP_Parser_Node {
		$parser = $driver->create_parser( $statement );
		$parser->next_query();
		return $parser->get_query_ast()->get_first_descendant_node( $node );
	}
}
