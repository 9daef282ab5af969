<?php
namespace WP_MySQL_Layer;

use PDOStatement;
use WP_MySQL_Lexer;
use WP_Parser_Node;

/**
 * `ALTER TABLE`. The driver carries out what it knows, and silently skips the rest, which is done here: new names of tables,
 * columns and keys, defaults of columns, their order, and the table's own options.
 */
final class Alter_Table implements Statement {
	/** First words of the actions that are carried out here, or have no effect. */
	private const OURS = [
		WP_MySQL_Lexer::ALTER_SYMBOL,
		WP_MySQL_Lexer::CONVERT_SYMBOL,
		WP_MySQL_Lexer::DISABLE_SYMBOL,
		WP_MySQL_Lexer::ENABLE_SYMBOL,
		WP_MySQL_Lexer::FORCE_SYMBOL,
		WP_MySQL_Lexer::ORDER_SYMBOL,
		WP_MySQL_Lexer::RENAME_SYMBOL,
	];

	private Driver $driver;
	private Table $table;
	private Generated_Columns $columns;
	/** New columns that were given a default for the present rows only. @var string[] */
	private array $without_default = [];
	/** Whether the record differs from SQLite's table. */
	private bool $is_stale = false;

	public function answer( WP_Parser_Node $node, string $query, Driver $driver ): ?PDOStatement {
		$alter = $node->get_first_child_node( 'alterTable' );
		if ( null === $alter ) {
			return null;
		}
		$this->driver       = $driver;
		$this->table        = $driver->schema()->get( $alter->get_first_child_node( 'tableRef' ) );
		$this->columns      = new Generated_Columns( $driver, $query );
		$driver->transactions()->atomically( fn () => $this->carry_out( ...$this->divide( $alter, $query ) ) );
		return $driver->nothing( $query );
	}

	/**
	 * Divides the actions into texts for the driver and nodes for this class. Both lists can contain the same action.
	 *
	 * @return array{string[], WP_Parser_Node[]}
	 */
	private function divide( WP_Parser_Node $alter, string $query ): array {
		$theirs = [];
		$ours   = [];
		foreach ( $alter->get_descendant_nodes( 'alterListItem' ) as $item ) {
			if ( $this->is_ours( $item ) ) {
				$ours[] = $item;
				continue;
			}
			$this->check_dropped( $item );
			$several = $item->get_descendant_nodes( 'columnDefinition' );
			foreach ( $several as $definition ) {
				$theirs[] = 'ADD COLUMN ' . $this->columns->text_of( $definition );
			}
			if ( [] === $several ) {
				$theirs[] = $this->completed( $item );
			}
			if ( null !== $item->get_first_descendant_node( 'fieldDefinition' ) ) {
				$ours[] = $item;
			}
		}
		foreach ( $alter->get_descendant_nodes( 'createTableOption' ) as $option ) {
			$theirs[] = $this->columns->text_of( $option );
			$ours[]   = $option;
		}
		return [ $theirs, $ours ];
	}

	/**
	 * Returns an action's text. SQLite refuses rows without a value: those of a new column get MySQL's implicit default, and
	 * those of a column that may not be NULL any longer get it beforehand.
	 */
	private function completed( WP_Parser_Node $item ): string {
		$text  = $this->columns->text_of( $item );
		$field = $item->get_first_child_node( 'fieldDefinition' );
		if ( null === $field || Generated_Columns::is_generated( $field ) ) {
			return $text;
		}
		$definition = new Field_Definition( $field );
		if ( ! $definition->is_required() ) {
			return $text;
		}
		if ( WP_MySQL_Lexer::ADD_SYMBOL !== $item->get_first_child_token()->id ) {
			$column = Schema::last_name_of( $item->get_first_child_node( 'fieldIdentifier' ) );
			$this->table->fill_empty( $column, $definition->implicit_value() );
			return $text;
		}
		if ( $definition->has_value() ) {
			return $text;
		}
		$this->without_default[] = Schema::name_of( $item->get_first_child_node( 'identifier' ) );
		$place                   = $item->get_first_descendant_node( 'place' );
		$at                      = null === $place ? $item->get_length() : $place->get_start() - $item->get_start();
		return substr( $text, 0, $at ) . " DEFAULT {$definition->implicit_value()} " . substr( $text, $at );
	}

	/** The driver takes no offence at a column or a key that isn't there. */
	private function check_dropped( WP_Parser_Node $item ): void {
		if ( WP_MySQL_Lexer::DROP_SYMBOL !== $item->get_first_child_token()->id ) {
			return;
		}
		$column = $item->has_child_token( WP_MySQL_Lexer::FOREIGN_SYMBOL ) ? null : $item->get_first_child_node( 'fieldIdentifier' );
		$this->check( $column, 'columns', 'COLUMN_NAME' );
		$this->check( $item->get_first_child_node( 'indexRef' ), 'statistics', 'INDEX_NAME' );
	}

	private function check( ?WP_Parser_Node $node, string $record, string $column ): void {
		if ( null === $node ) {
			return;
		}
		$name  = Schema::last_name_of( $node );
		$names = array_map( 'strtolower', array_column( $this->table->rows( $record ), $column ) );
		if ( ! in_array( strtolower( $name ), $names, true ) ) {
			throw Errors::create( $this->driver, 1091, "Can't DROP '$name'; check that column/key exists" );
		}
	}

	private function is_ours( WP_Parser_Node $item ): bool {
		$first = $item->get_first_child_token()->id;
		return in_array(
			$first,
			self::OURS,
			true
		);
	}

	/**
	 * @param string[]         $theirs
	 * @param WP_Parser_Node[] $ours
	 */
	private function carry_out( array $theirs, array $ours ): void {
		$sequence = $this->table->sequence();
		if ( [] !== $theirs ) {
			$this->columns->create( $this->table, 'ALTER TABLE ' . Schema::quoted( $this->table->name ) . ' ' . implode( ', ', $theirs ) );
		}
		$new_name = null;
		foreach ( $ours as $item ) {
			$new_name = $this->act( $item ) ?? $new_name;
		}
		foreach ( $this->without_default as $column ) {
			$this->table->set_default( $column, null );
			$this->is_stale = true;
		}
		$this->table->settle_keys();
		if ( $this->is_stale ) {
			$this->table->rebuild();
		}
		$this->table->settle_triggers();
		$this->table->restore_sequence( $sequence );
		if ( null !== $new_name && $new_name !== $this->table->name ) {
			$this->table->rename( $new_name );
		}
	}

	/** Carries out an action. Returns the table's new name if it is one. */
	private function act( WP_Parser_Node $item ): ?string {
		if ( 'createTableOption' === $item->rule_name ) {
			$this->table->set_option( $item );
			return null;
		}
		switch ( $item->get_first_child_token()->id ) {
			case WP_MySQL_Lexer::RENAME_SYMBOL:
				return $this->rename( $item );
			case WP_MySQL_Lexer::ALTER_SYMBOL:
				$this->set_default( $item );
				return null;
			case WP_MySQL_Lexer::CONVERT_SYMBOL:
				( new Collations( $this->driver, $this->table ) )->convert( $item );
				$this->is_stale = true;
				return null;
			case WP_MySQL_Lexer::DISABLE_SYMBOL:
			case WP_MySQL_Lexer::ENABLE_SYMBOL:
			case WP_MySQL_Lexer::FORCE_SYMBOL:
			case WP_MySQL_Lexer::ORDER_SYMBOL:
				return null;
			default:
				( new Collations( $this->driver, $this->table ) )->altered( $item );
				$this->place( $item );
				return null;
		}
	}

	private function rename( WP_Parser_Node $item ): ?string {
		if ( $item->has_child_node( 'keyOrIndex' ) ) {
			$from = Schema::last_name_of( $item->get_first_child_node( 'indexRef' ) );
			$this->table->rename_key( $from, Schema::name_of( $item->get_first_child_node( 'indexName' ) ) );
			return null;
		}
		if ( $item->has_child_node( 'fieldIdentifier' ) ) {
			$from = Schema::last_name_of( $item->get_first_child_node( 'fieldIdentifier' ) );
			$this->table->rename_column( $from, Schema::name_of( $item->get_first_child_node( 'identifier' ) ) );
			return null;
		}
		return $this->driver->schema()->name_in( $item->get_first_child_node( 'tableName' ) );
	}

	/** `ALTER COLUMN c SET DEFAULT 5`, `ALTER c DROP DEFAULT`. */
	private function set_default( WP_Parser_Node $item ): void {
		$field = $item->get_first_child_node( 'fieldIdentifier' );
		if ( null === $field ) {
			return;
		}
		$name    = Schema::last_name_of( $field );
		$literal = $item->get_first_child_node( 'signedLiteral' );
		$value   = null === $literal ? null : Literals::as_default( $literal, $this->table->type_of( $name ) );
		if ( null !== $literal && ! $this->table->may_have_default( $name, $value ) ) {
			throw Errors::create( $this->driver, 1067, "Invalid default value for '$name'" );
		}
		$this->table->set_default( $name, $value );
		$this->is_stale = true;
	}

	/** `FIRST` and `AFTER c` of a column that the driver has added or changed. Does nothing without them. */
	private function place( WP_Parser_Node $item ): void {
		$place = $item->get_first_descendant_node( 'place' );
		if ( null === $place ) {
			return;
		}
		$names = array_map( [ Schema::class, 'name_of' ], $item->get_child_nodes( 'identifier' ) );
		$name  = $names[0] ?? Schema::last_name_of( $item->get_first_child_node( 'fieldIdentifier' ) );
		$after = $place->has_child_token( WP_MySQL_Lexer::FIRST_SYMBOL )
			? null
			: Schema::name_of( $place->get_first_child_node( 'identifier' ) );
		$this->table->move_column( $name, $after );
		$this->is_stale = true;
	}
}
