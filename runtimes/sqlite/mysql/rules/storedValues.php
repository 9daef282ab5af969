<?php
namespace WP_MySQL_Layer;

use WP_MySQL_Token;
use WP_Parser_Node;

/**
 * Values of columns as MySQL keeps them: decimals with as many digits as their column has, and dates such as `20240305` and
 * times such as `9:00`, which the driver would take for invalid ones, and members of ENUM and SET.
 */
final class Stored_Values implements Rule {
	private const CONCERNED = Columns::DATE | Columns::MOMENT | Columns::CLOCK | Columns::DECIMAL | Columns::MEMBERS;

	public function nodes(): array {
		return [ 'updateElement', 'insertFromConstructor', 'insertQueryExpression' ];
	}

	public function rewrite( WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		switch ( $node->rule_name ) {
			case 'updateElement':
				$this->assign( $node, $rewriting );
				break;
			case 'insertFromConstructor':
				$this->insert( $node, $rewriting );
				break;
			default:
				$statement = $rewriting->nearest( 'insertStatement', 'replaceStatement' );
				$this->read_times( Assigned_Columns::of_table( $statement, $rewriting ), $rewriting );
		}
		return null;
	}

	/** Lets columns of times read all times that MySQL reads. @param array<Column|null> $columns */
	private function read_times( array $columns, Rewriting $rewriting ): void {
		if ( [] !== array_filter( $columns, static fn ( ?Column $column ) => Columns::CLOCK === $column?->time ) ) {
			$rewriting->driver->register_function( 'time' );
		}
	}

	private function assign( WP_Parser_Node $node, Rewriting $rewriting ): void {
		$name  = $node->get_first_child_node( 'columnRef' );
		$value = $node->get_first_child_node( 'expr' );
		if ( null !== $value && $this->is_concerned( Assigned_Columns::name_of( $name ), $rewriting ) ) {
			$insert = $rewriting->nearest( 'insertStatement', 'replaceStatement' );
			$column = null === $insert ? $rewriting->kinds->table_column( $name ) : Assigned_Columns::of_table( $insert, $rewriting )[ Assigned_Columns::name_of( $name ) ] ?? null;
			$this->read_times( [ $column ], $rewriting );
			$this->replace( $node, [ [ $value, $column ] ], $rewriting );
		}
	}

	private function insert( WP_Parser_Node $node, Rewriting $rewriting ): void {
		$names = Assigned_Columns::names( $node );
		if ( null !== $names && [] === array_filter( $names, fn ( string $name ) => $this->is_concerned( $name, $rewriting ) ) ) {
			return;
		}
		$columns = Assigned_Columns::of( $node, $rewriting );
		$columns = array_filter( $columns, static fn ( ?Column $column ) => null !== $column && ( 0 !== $column->time || null !== $column->members || self::is_decimal( $column ) ) );
		$this->read_times( $columns, $rewriting );
		foreach ( [] === $columns ? [] : $node->get_descendant_nodes( 'values' ) as $row ) {
			$values = array_intersect_key( Assigned_Columns::values( $row ), $columns );
			$this->replace( $row, array_map( static fn ( $value, int $position ) => [ $value, $columns[ $position ] ], $values, array_keys( $values ) ), $rewriting );
		}
	}

	private function is_concerned( string $name, Rewriting $rewriting ): bool {
		return 0 !== ( ( $rewriting->driver->columns()->names()[ $name ] ?? 0 ) & self::CONCERNED );
	}

	private static function is_decimal( Column $column ): bool {
		return null !== $column->scale && ! $column->is_whole;
	}

	/** @param array<array{WP_Parser_Node, Column|null}> $values Children of a node, and their columns. */
	private function replace( WP_Parser_Node $parent, array $values, Rewriting $rewriting ): void {
		$children = $parent->get_children();
		foreach ( $values as [ $value, $column ] ) {
			$parts = null === $column ? null : $this->parts( $value, $column, $rewriting );
			if ( null !== $parts ) {
				$children[ array_search( $value, $children, true ) ] = $rewriting->sequence( $parts, $value );
			}
		}
		Tree::set_children( $parent, $children );
	}

	/** Returns what a column gets in the place of a value, or null to keep it. @return array<WP_Parser_Node|string>|null */
	private function parts( WP_Parser_Node $value, Column $column, Rewriting $rewriting ): ?array {
		$literal = $this->literal( $value, $rewriting );
		if ( null !== $column->members ) {
			return $this->member( $value, $literal, $column->members, $rewriting );
		}
		if ( 0 !== $column->time ) {
			$form = null === $literal ? null : $this->time( $literal, $column->time, $rewriting );
			return null === $form ? $this->number_as_time( $value, $column->time, $rewriting ) : [ "'$form'" ];
		}
		if ( ! self::is_decimal( $column ) ) {
			return null;
		}
		if ( null === $literal ) {
			return $this->rounded( $value, $column->scale, $rewriting );
		}
		$is_exact = 1 === preg_match( '/^-?\d*(?:\.\d{0,' . $column->scale . '})?$/D', $literal );
		return $is_exact || ! is_numeric( $literal ) || ! is_finite( (float) $literal ) ? null : [ var_export( round( (float) $literal, $column->scale ), true ) ];
	}

	/** A literal in the form of a column of dates or times; null if it is in this form, or is none. */
	private function time( string $literal, int $time, Rewriting $rewriting ): ?string {
		if ( Columns::CLOCK === $time || ! Date_Forms::has_no_such_day( $literal ) ) {
			return Date_Forms::of( $literal, $time );
		}
		if ( $rewriting->driver->is_strict() ) {
			throw Errors::create( $rewriting->driver, 1292, "Incorrect date value: '$literal'" );
		}
		return Columns::MOMENT === $time ? '0000-00-00 00:00:00' : '0000-00-00';
	}

	/** What a column of ENUM or SET keeps. */
	private function member( WP_Parser_Node $value, ?string $literal, Members $members, Rewriting $rewriting ): ?array {
		$core = $rewriting->kinds->core( $value );
		if ( 'nullLiteral' === $core->rule_name ) {
			return null;
		}
		$is_strict = $rewriting->driver->is_strict();
		if ( null === $literal ) {
			return $is_strict ? null : [ $rewriting->call( 'mysql_member', [ $value, self::quoted( $members->type ) ], $value ) ];
		}
		$literal = 'numLiteral' === $core->rule_name ? (float) $literal : $literal;
		if ( $is_strict && ! $members->has( $literal ) ) {
			throw Errors::create( $rewriting->driver, 1265, 'Data truncated for a column of ' . ( $members->is_set ? 'SET' : 'ENUM' ) );
		}
		$kept = $members->kept( $literal );
		return $kept === $literal ? null : [ self::quoted( $kept ) ];
	}

	private static function quoted( string $text ): string {
		return "'" . str_replace( "'", "''", $text ) . "'";
	}

	/** The date that a computed number such as `20240305 + 1` means. The driver says what becomes of a number that is none. */
	private function number_as_time( WP_Parser_Node $value, int $time, Rewriting $rewriting ): ?array {
		$core = $rewriting->kinds->core( $value );
		if ( Columns::CLOCK === $time || 'numLiteral' === $core->rule_name || Columns::NUMBER !== $rewriting->kinds->of( $value ) || ! Known_Results::is_repeatable( $value ) ) {
			return null;
		}
		$function = Columns::MOMENT === $time ? 'mysql_datetime' : 'mysql_date';
		return [ 'coalesce(', Large_Numbers::call( $rewriting, $function, [ $value ], $value ), ',', $value, ')' ];
	}

	/** The text of a literal text or number, or null. */
	private function literal( WP_Parser_Node $value, Rewriting $rewriting ): ?string {
		$core  = $rewriting->kinds->core( $value );
		$token = 'numLiteral' === $core->rule_name ? $core->get_first_child() : null;
		return $token instanceof WP_MySQL_Token ? $token->get_value() : $rewriting->kinds->text( $value );
	}

	/** Rounds away from zero at .5: the factor makes up for decimals that have no exact binary form. */
	private function rounded( WP_Parser_Node $value, int $scale, Rewriting $rewriting ): ?array {
		$core   = $rewriting->kinds->core( $value );
		$column = 'columnRef' === $core->rule_name ? $rewriting->kinds->table_column( $core ) : null;
		$is_exact = 'nullLiteral' === $core->rule_name || ( null !== $column?->scale && $column->scale <= $scale );
		return $is_exact ? null : [ 'round((', $value, ") * 1.0000000000000002, $scale)" ];
	}
}
