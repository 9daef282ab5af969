<?php
namespace WP_MySQL_Layer;

use WP_Parser_Node;

/** Tables of `information_schema`: those that the driver doesn't have, and the figures about tables. */
final class Information_Schema_Tables implements Rule {
	private const TABLES  = [
		...[ 'TABLE_CATALOG', 'TABLE_SCHEMA', 'TABLE_NAME', 'TABLE_TYPE', 'ENGINE', 'VERSION', 'ROW_FORMAT', 'TABLE_ROWS' ],
		...[ 'AVG_ROW_LENGTH', 'DATA_LENGTH', 'MAX_DATA_LENGTH', 'INDEX_LENGTH', 'DATA_FREE', 'AUTO_INCREMENT', 'CREATE_TIME' ],
		...[ 'UPDATE_TIME', 'CHECK_TIME', 'TABLE_COLLATION', 'CHECKSUM', 'CREATE_OPTIONS', 'TABLE_COMMENT' ],
	];
	private const FIGURES = [ 'TABLE_ROWS', 'AVG_ROW_LENGTH', 'DATA_LENGTH', 'INDEX_LENGTH' ];

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
			$driver->register_function( 'mysql_table_figure' );
			$columns = array_map(
				static fn ( string $column ) => in_array( $column, self::FIGURES, true )
					? "mysql_table_figure(TABLE_NAME, '$column') AS $column"
					: $column,
				self::TABLES
			);
			return $rewriting->sequence( [ '(SELECT ' . implode( ', ', $columns ) . ' FROM', $node, ')' ], $node );
		}
		$table = ( new Server_Tables( $driver ) )->get( strtolower( $names[1] ) );
		if ( null === $table ) {
			return null;
		}
		$parser = $driver->create_parser( 'SELECT * FROM (' . Listing::select( ...$table ) . ') AS listing' );
		$parser->next_query();
		$subquery = $parser->get_query_ast()->get_first_descendant_node( 'subquery' );
		return $rewriting->sequence( [ $subquery ], $node );
	}
}
