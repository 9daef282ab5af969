<?php
namespace WP_MySQL_Layer;

use WP_MySQL_Lexer;
use WP_Parser_Node;

/**
 * Rows of INSERT and REPLACE: as many values as columns, where SQLite would ignore the last ones, `() VALUES ()`, a row of
 * defaults, NULL among several rows for columns that can't be NULL, and the number of the first of several rows, which MySQL tells
 * instead of the last one's.
 */
final class Insert_Rows implements Rule {
	public function nodes(): array {
		return [ 'insertFromConstructor', 'insertQueryExpression' ];
	}

	public function rewrite( WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		$statement = $rewriting->nearest( 'insertStatement', 'replaceStatement' );
		if ( 'insertQueryExpression' === $node->rule_name ) {
			$this->number_selected_rows( $node, $statement, $rewriting );
			return null;
		}
		$list   = $node->get_first_child_node( 'insertValues' )->get_first_child_node( 'valueList' );
		$fields = $node->get_first_child_node( 'fields' );
		if ( ! $list->has_child_node( 'values' ) ) {
			return $this->defaults( $rewriting );
		}
		$columns = $this->columns( $statement, $rewriting );
		if ( [] === $columns ) {
			return null;
		}
		$names = $this->names( $fields, $columns );
		$rows  = $list->get_child_nodes( 'values' );
		foreach ( $rows as $i => $values ) {
			if ( count( $values->get_child_nodes() ) !== count( $names ) ) {
				throw Errors::create( $rewriting->driver, 1136, "Column count doesn't match value count at row " . ( $i + 1 ) );
			}
		}
		$this->read_bits( $list, $names, $columns, $rewriting );
		if ( $statement->has_child_token( WP_MySQL_Lexer::IGNORE_SYMBOL ) || ( count( $rows ) > 1 && ! $rewriting->driver->is_strict() ) ) {
			$this->fill( $list, $names, $columns, $rewriting );
		}
		if ( count( $rows ) > 1 && $this->are_numbered( $rows, $names, $columns ) ) {
			$rewriting->driver->number_rows( count( $rows ) );
		}
		return null;
	}

	/** Rows of `INSERT … SELECT`, unless some of them may have a number already, or not be added. */
	private function number_selected_rows( WP_Parser_Node $query, WP_Parser_Node $statement, Rewriting $rewriting ): void {
		$columns  = $this->columns( $statement, $rewriting );
		$names    = $this->names( $query->get_first_child_node( 'fields' ), $columns );
		$is_plain = ! $statement->has_child_node( 'insertUpdateList' ) && ! $statement->has_child_token( WP_MySQL_Lexer::IGNORE_SYMBOL );
		$numbered = self::numbered( $columns );
		if ( $is_plain && null !== $numbered && ! in_array( $numbered, $names, true ) ) {
			$rewriting->driver->number_rows( null );
		}
	}

	/** @return array[] The columns of the table that rows are added to. */
	private function columns( WP_Parser_Node $statement, Rewriting $rewriting ): array {
		$schema = $rewriting->driver->schema();
		return $schema->columns_of( $schema->name_in( $statement->get_first_child_node( 'tableRef' ) ) );
	}

	/**
	 * Returns the names of the columns that get values, in lower case.
	 *
	 * @param array[] $columns The table's columns.
	 * @return string[]
	 */
	private function names( ?WP_Parser_Node $fields, array $columns ): array {
		$names = null === $fields
			? array_column( $columns, 'COLUMN_NAME' )
			: array_map( [ Schema::class, 'last_name_of' ], $fields->get_child_nodes( 'insertIdentifier' ) );
		return array_map( 'strtolower', $names );
	}

	/** Returns the name of the column with AUTO_INCREMENT, in lower case, or null. @param array[] $columns The table's columns. */
	private static function numbered( array $columns ): ?string {
		foreach ( $columns as $column ) {
			if ( str_contains( $column['EXTRA'], 'auto_increment' ) ) {
				return strtolower( $column['COLUMN_NAME'] );
			}
		}
		return null;
	}

	/**
	 * Whether all rows get their numbers from AUTO_INCREMENT.
	 *
	 * @param WP_Parser_Node[] $rows
	 * @param string[]         $names The columns of the values, in lower case.
	 * @param array[]          $columns The table's columns.
	 */
	private function are_numbered( array $rows, array $names, array $columns ): bool {
		$numbered = self::numbered( $columns );
		$position = null === $numbered ? false : array_search( $numbered, $names, true );
		if ( false === $position ) {
			return null !== $numbered;
		}
		foreach ( $rows as $values ) {
			$tokens = $values->get_child_nodes()[ $position ]->get_descendant_tokens();
			if ( 1 !== count( $tokens ) || ! in_array( strtoupper( $tokens[0]->get_value() ), [ 'NULL', '0' ], true ) ) {
				return false;
			}
		}
		return true;
	}

	/**
	 * Dumps have the values of columns of bits as bytes, which the driver would take for texts.
	 *
	 * @param string[] $names The columns of the values, in lower case.
	 * @param array[]  $columns The table's columns.
	 */
	private function read_bits( WP_Parser_Node $list, array $names, array $columns, Rewriting $rewriting ): void {
		$bits = array_filter( $columns, static fn ( array $column ) => 'bit' === $column['DATA_TYPE'] );
		$this->change( $list, $names, $bits, static fn ( $value ) => $rewriting->call( 'mysql_bits', [ $value ], $value ) );
	}

	/**
	 * Gives columns that can't be NULL their type's own value instead. MySQL refuses NULL only if there is one row.
	 *
	 * @param string[] $names The columns of the values, in lower case.
	 * @param array[]  $columns The table's columns.
	 */
	private function fill( WP_Parser_Node $list, array $names, array $columns, Rewriting $rewriting ): void {
		$required = array_filter( $columns, static fn ( array $column ) => 'NO' === $column['IS_NULLABLE'] && ! str_contains( $column['EXTRA'], 'auto_increment' ) );
		$this->change( $list, $names, $required, static function ( WP_Parser_Node $value, array $column ) use ( $rewriting ) {
			$tokens = $value->get_descendant_tokens();
			if ( 1 === count( $tokens ) && ! in_array( $tokens[0]->id, [ WP_MySQL_Lexer::NULL_SYMBOL, WP_MySQL_Lexer::NULL2_SYMBOL ], true ) ) {
				return $value;
			}
			$implicit = 'enum' === $column['DATA_TYPE']
				? "'" . str_replace( "'", "''", ( new Members( $column['COLUMN_TYPE'] ) )->names[0] ) . "'"
				: Field_Definition::implicit_value_of( $column['DATA_TYPE'] );
			return $rewriting->sequence( [ 'coalesce(', $value, ", $implicit)" ], $value );
		} );
	}

	/**
	 * Changes the values of some columns in all rows.
	 *
	 * @param string[] $names   The columns of the values, in lower case.
	 * @param array[]  $columns The columns to change.
	 * @param callable $change  Gets a value and its column, and returns the value.
	 */
	private function change( WP_Parser_Node $list, array $names, array $columns, callable $change ): void {
		$columns = array_intersect_key( array_change_key_case( array_column( $columns, null, 'COLUMN_NAME' ) ), array_flip( $names ) );
		foreach ( [] === $columns ? [] : $list->get_child_nodes( 'values' ) as $values ) {
			$children = $values->get_children();
			$position = 0;
			foreach ( $children as $i => $child ) {
				if ( WP_MySQL_Lexer::COMMA_SYMBOL === ( $child->id ?? null ) ) {
					++$position;
				} elseif ( $child instanceof WP_Parser_Node && isset( $columns[ $names[ $position ] ] ) ) {
					$children[ $i ] = $change( $child, $columns[ $names[ $position ] ] );
				}
			}
			Tree::set_children( $values, $children );
		}
	}

	private function table( Rewriting $rewriting ): Table {
		$statement = $rewriting->nearest( 'insertStatement', 'replaceStatement' );
		return $rewriting->driver->schema()->get( $statement->get_first_child_node( 'tableRef' ) );
	}

	/** Returns the values of `() VALUES ()`, written with one column. */
	private function defaults( Rewriting $rewriting ): WP_Parser_Node {
		$table  = $this->table( $rewriting );
		$column = Schema::quoted( $table->rows( 'columns' )[0]['COLUMN_NAME'] );
		$parser = $rewriting->driver->create_parser( 'INSERT INTO ' . Schema::quoted( $table->name ) . " ($column) VALUES (DEFAULT)" );
		$parser->next_query();
		return $parser->get_query_ast()->get_first_descendant_node( 'insertFromConstructor' );
	}
}
