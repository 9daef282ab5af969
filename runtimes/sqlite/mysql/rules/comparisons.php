<?php
namespace WP_MySQL_Layer;

use WP_MySQL_Lexer as Lexer;
use WP_MySQL_Token;
use WP_Parser_Node;

/**
 * Comparisons of texts with numbers, which MySQL makes as numbers, and of texts without regard to case and accents. SQLite
 * compares texts with numbers as texts, or not at all, and knows only the case of ASCII letters.
 */
final class Comparisons implements Rule {
	private const EQUALITY = [
		Lexer::EQUAL_OPERATOR           => true,
		Lexer::NOT_EQUAL_OPERATOR       => true,
		Lexer::NULL_SAFE_EQUAL_OPERATOR => true,
	];

	/** Equal texts differ in length, by letters such as ß and by marks over letters, but not by more than this. */
	private const LONGEST_FORM = 4;

	public function nodes(): array {
		return [ 'boolPri', 'predicate' ];
	}

	public function rewrite( WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		return 'boolPri' === $node->rule_name ? $this->comparison( $node, $rewriting ) : $this->predicate( $node, $rewriting );
	}

	private function comparison( WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		$children = $node->get_children();
		if ( 3 !== count( $children ) || ! $children[1] instanceof WP_Parser_Node || ! $children[2] instanceof WP_Parser_Node ) {
			return null;
		}
		[ $left, $operator, $right ] = $children;
		$comparable                  = $this->comparable( [ $left, $right ], $rewriting );
		if ( null !== $comparable ) {
			return $rewriting->sequence( [ $comparable[0], $operator, $comparable[1] ], $node );
		}
		$bytes = $this->with_bytes( [ $left, $right ], $rewriting );
		if ( null !== $bytes ) {
			return $this->compared_bytes( [ $left, $right ], $bytes, $operator, $node, $rewriting );
		}
		$kind = $operator->get_first_descendant_token();
		if ( null === $rewriting->kinds->text( $right ) && null !== $rewriting->kinds->text( $left ) ) {
			[ $left, $right ] = [ $right, $left ];
		}
		$is_negative = Lexer::NOT_EQUAL_OPERATOR === $kind->id;
		$equality    = isset( self::EQUALITY[ $kind->id ] ) ? $this->equality( $left, [ $right ], $rewriting, Lexer::NULL_SAFE_EQUAL_OPERATOR === $kind->id ? 'IS' : '=' ) : null;
		if ( null === $equality ) {
			return $this->order( $children, $node, $rewriting );
		}
		return $rewriting->sequence( $is_negative ? [ 'NOT (', ...$equality, ')' ] : [ '(', ...$equality, ')' ], $node );
	}

	/** `a < b` of texts. */
	private function order( array $children, WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		[ $left, $operator, $right ] = $children;
		$kinds                       = $rewriting->kinds;
		if ( Columns::TEXT !== $kinds->of( $left ) || Columns::TEXT !== $kinds->of( $right ) ) {
			return null;
		}
		$text       = $kinds->text( $left ) ?? $kinds->text( $right );
		$has_column = null !== $kinds->column( $left ) || null !== $kinds->column( $right );
		if ( null === $text || ( $has_column && ! Letters::beyond_ascii( $text ) ) ) {
			return null;
		}
		return $rewriting->sequence( [ $rewriting->folded( $left ), $operator, $rewriting->folded( $right ) ], $node );
	}

	private function predicate( WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		$operations = $node->get_first_child_node( 'predicateOperations' );
		$keyword    = $operations?->get_first_child();
		if ( ! $keyword instanceof WP_MySQL_Token ) {
			return null;
		}
		$not = $node->has_child_node( 'notRule' );
		if ( Lexer::IN_SYMBOL === $keyword->id ) {
			return $this->list_of_values( $node, $operations, $not, $rewriting );
		}
		return Lexer::BETWEEN_SYMBOL === $keyword->id ? $this->between( $node, $operations, $not, $rewriting ) : null;
	}

	private function list_of_values( WP_Parser_Node $node, WP_Parser_Node $operations, bool $not, Rewriting $rewriting ): ?WP_Parser_Node {
		$values = $operations->get_first_child_node( 'exprList' )?->get_child_nodes();
		$left   = $node->get_first_child_node();
		if ( null === $values ) {
			return null;
		}
		$comparable = $this->comparable( [ $left, ...$values ], $rewriting );
		$bytes      = null === $comparable ? $this->with_bytes( [ $left, ...$values ], $rewriting ) : null;
		if ( null !== $bytes ) {
			// Values that an earlier driver has stored are texts.
			$comparable = [ ...$bytes, ...$values ];
		}
		if ( null !== $comparable ) {
			$first = array_shift( $comparable );
			return $rewriting->sequence( [ $first, $not ? 'NOT IN (' : 'IN (', ...self::with_commas( $comparable ), ')' ], $node );
		}
		$equality = $this->equality( $left, $values, $rewriting, 'IN' );
		return null === $equality ? null : $rewriting->sequence( [ $not ? 'NOT (' : '(', ...$equality, ')' ], $node );
	}

	private function between( WP_Parser_Node $node, WP_Parser_Node $operations, bool $not, Rewriting $rewriting ): ?WP_Parser_Node {
		$nodes      = [ $node->get_first_child_node(), ...$operations->get_child_nodes() ];
		$comparable = $this->comparable( $nodes, $rewriting ) ?? $this->with_bytes( $nodes, $rewriting );
		if ( null === $comparable ) {
			return null;
		}
		return $rewriting->sequence( [ $comparable[0], $not ? 'NOT BETWEEN' : 'BETWEEN', $comparable[1], 'AND', $comparable[2] ], $node );
	}

	/**
	 * Returns values as numbers if some are numbers and others texts, and dates in one form; null if nothing has to change.
	 *
	 * @param WP_Parser_Node[] $values
	 * @return array<WP_Parser_Node|string>|null
	 */
	private function comparable( array $values, Rewriting $rewriting ): ?array {
		$kinds = array_map( static fn ( $value ) => $rewriting->kinds->of( $value ), $values );
		if ( ! in_array( Columns::NUMBER, $kinds, true ) ) {
			$is_timed = in_array( Columns::TIME, $kinds, true ) || [] !== array_filter( $values, [ $rewriting->kinds, 'is_clock' ] );
			return $is_timed ? $this->with_dates( $values, $rewriting ) : null;
		}
		if ( in_array( Columns::TIME, $kinds, true ) ) {
			return $this->comparable_times( $values, $kinds, $rewriting );
		}
		if ( ! in_array( Columns::TEXT, $kinds, true ) ) {
			return null;
		}
		$has_column = null !== $rewriting->kinds->column( $values[ array_search( Columns::NUMBER, $kinds, true ) ] );
		$changed    = false;
		foreach ( $values as $i => $value ) {
			if ( Columns::TEXT !== $kinds[ $i ] ) {
				continue;
			}
			$text   = $rewriting->kinds->text( $value );
			$member = null === $text ? Member_Numbers::of( $value, $rewriting ) : null;
			// SQLite compares columns of numbers with texts of numbers as MySQL does.
			if ( null !== $text && $has_column && is_numeric( $text ) && trim( $text ) === $text ) {
				continue;
			}
			$values[ $i ] = $member ?? $rewriting->sequence( null === $text ? [ '(', $value, '+ 0)' ] : [ self::number( $text ) ], $value );
			$changed      = true;
		}
		return $changed ? $values : null;
	}

	/** Times against numbers such as 20240131: these as times, so that an index can be used, or all as numbers. */
	private function comparable_times( array $values, array $kinds, Rewriting $rewriting ): ?array {
		$changed = $values;
		$is_date = Columns::DATE === $rewriting->kinds->compared_column( $values[ array_search( Columns::TIME, $kinds, true ) ] )?->time;
		foreach ( array_keys( $kinds, Columns::NUMBER, true ) as $i ) {
			$time = $this->literal_time( $values[ $i ], $rewriting );
			if ( null === $time ) {
				return $this->times_as_numbers( $values, $rewriting );
			}
			$time          = $is_date ? Date_Forms::compared( $time, Columns::DATE ) ?? $time : $time;
			$changed[ $i ] = $rewriting->sequence( [ "'$time'" ], $values[ $i ] );
		}
		return $changed;
	}

	private function times_as_numbers( array $values, Rewriting $rewriting ): array {
		$number = static fn ( $value ) => $rewriting->kinds->is_time( $value ) ? Date_Numbers::number( $value, $rewriting ) : $value;
		return array_map( $number, $values );
	}

	/** The time that a literal number means, or null. */
	private function literal_time( WP_Parser_Node $value, Rewriting $rewriting ): ?string {
		$tokens = $rewriting->kinds->core( $value )->get_descendant_tokens();
		$is_int = 1 === count( $tokens ) && in_array( $tokens[0]->id, [ Lexer::INT_NUMBER, Lexer::LONG_NUMBER ], true );
		return $is_int ? self::time( $tokens[0]->get_value() ) : null;
	}

	/**
	 * Returns literal dates and times in the form of the column that they are compared with; null if nothing has to change.
	 *
	 * @param WP_Parser_Node[] $values
	 * @return array<WP_Parser_Node|string>|null
	 */
	private function with_dates( array $values, Rewriting $rewriting ): ?array {
		$kinds   = $rewriting->kinds;
		$time_of = static fn ( $value ) => $kinds->is_clock( $value ) ? Columns::CLOCK : $kinds->compared_column( $value )->time ?? 0;
		$times   = array_unique( array_filter( array_map( $time_of, $values ) ) );
		$changed = false;
		foreach ( 1 === count( $times ) ? $values : [] as $i => $value ) {
			$text = $rewriting->kinds->text( $value );
			$form = null === $text ? null : Date_Forms::compared( $text, end( $times ) );
			if ( null !== $form ) {
				$values[ $i ] = $rewriting->sequence( [ "'$form'" ], $value );
				$changed      = true;
			}
		}
		return $changed ? $values : null;
	}

	/**
	 * Returns texts that are compared with a column of bytes as bytes; null if nothing has to change.
	 *
	 * @param WP_Parser_Node[] $values
	 * @return array<WP_Parser_Node|string>|null
	 */
	private function with_bytes( array $values, Rewriting $rewriting ): ?array {
		if ( ! $rewriting->driver->columns()->have_bytes() ) {
			return null;
		}
		$kinds   = $rewriting->kinds;
		$columns = array_map( static fn ( $value ) => $kinds->column( $value ), $values );
		if ( [] === array_filter( $columns, static fn ( ?Column $column ) => $column->is_bytes ?? false ) ) {
			return null;
		}
		$changed = false;
		foreach ( $values as $i => $value ) {
			$core = $kinds->core( $value );
			if ( ( $columns[ $i ]->is_bytes ?? false ) || Columns::NUMBER === $kinds->of( $value ) || 'nullLiteral' === $core->rule_name ) {
				continue;
			}
			if ( 'columnRef' === $core->rule_name && null === $columns[ $i ] ) {
				continue;
			}
			$text         = $kinds->text( $value );
			$values[ $i ] = $rewriting->sequence( null === $text ? [ 'CAST(', $value, 'AS BLOB)' ] : [ "x'" . bin2hex( $text ) . "'" ], $value );
			$changed      = true;
		}
		return $changed ? $values : null;
	}

	/** A comparison of bytes. Literals are looked for as texts, too: an earlier driver has stored such. */
	private function compared_bytes( array $sides, array $bytes, WP_Parser_Node $operator, WP_Parser_Node $node, Rewriting $rewriting ): WP_Parser_Node {
		$kind   = $operator->get_first_descendant_token()->id;
		$column = null === $rewriting->kinds->text( $sides[0] ) ? 0 : 1;
		if ( null === $rewriting->kinds->text( $sides[1 - $column] ) || ! in_array( $kind, [ Lexer::EQUAL_OPERATOR, Lexer::NOT_EQUAL_OPERATOR ], true ) ) {
			return $rewriting->sequence( [ $bytes[0], $operator, $bytes[1] ], $node );
		}
		$in = Lexer::EQUAL_OPERATOR === $kind ? 'IN (' : 'NOT IN (';
		return $rewriting->sequence( [ $sides[ $column ], $in, $bytes[1 - $column], ',', $sides[1 - $column], ')' ], $node );
	}

	private static function time( string $digits ): ?string {
		if ( '0' === $digits ) {
			return '0000-00-00 00:00:00';
		}
		if ( 1 !== preg_match( '/^(\d{4})(\d\d)(\d\d)(?:(\d\d)(\d\d)(\d\d))?$/', $digits, $parts ) ) {
			return null;
		}
		return "$parts[1]-$parts[2]-$parts[3] " . ( isset( $parts[4] ) ? "$parts[4]:$parts[5]:$parts[6]" : '00:00:00' );
	}

	/** Returns the number at the beginning of a text. */
	private static function number( string $text ): string {
		preg_match( '/^\s*([-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?)/', $text, $found );
		return $found[1] ?? '0';
	}

	/**
	 * Returns a condition that a text is equal to one of others, without regard to case and accents; null if SQLite's own
	 * comparison is enough. A comparison of ASCII letters is kept if it can use an index, or is with a short text, mostly a
	 * word of a program: what it finds is right, but it does not find other letters with accents.
	 *
	 * @param WP_Parser_Node[] $values
	 * @return array<WP_Parser_Node|string>|null
	 */
	private function equality( WP_Parser_Node $left, array $values, Rewriting $rewriting, string $operator ): ?array {
		$kinds = $rewriting->kinds;
		if ( Columns::TEXT !== $kinds->of( $left ) ) {
			return null;
		}
		$texts = [];
		foreach ( $values as $value ) {
			$text = $kinds->text( $value );
			if ( null === $text ) {
				return null;
			}
			$texts[] = $text;
		}
		$literal = static fn ( string $text ) => "CAST(x'" . bin2hex( $text ) . "' AS TEXT)";
		$list    = 'IN' === $operator ? [ '(', ...self::with_commas( $values ), ')' ] : $values;
		$folded  = array_map( static fn ( string $text ) => $literal( Letters::fold( $text ) ), $texts );
		$folded  = 'IN' === $operator ? '(' . implode( ', ', $folded ) . ')' : $folded[0];
		$own     = $kinds->text( $left );
		if ( null !== $own ) {
			return [ $literal( Letters::fold( $own ) ), $operator, $folded ];
		}
		if ( $kinds->is_plain( $left ) ) {
			return [ $left, 'COLLATE NOCASE', $operator, ...$list ];
		}
		$column = $kinds->column( $left );
		if ( null === $column ) {
			return [ $rewriting->call( 'mysql_fold', [ $left ], $left ), $operator, $folded ];
		}
		$all          = implode( '', $texts );
		$needs_folded = Letters::beyond_ascii( $all ) || ( ! $column->is_indexed && ! $column->is_short && Letters::has_letter( $all ) );
		if ( ! $needs_folded ) {
			return null;
		}
		$fold    = $rewriting->call( 'mysql_fold', [ $left ], $left );
		$longest = self::LONGEST_FORM * max( array_map( 'mb_strlen', $texts ) );
		$few     = [ ...$rewriting->beyond_ascii( $left ), 'AND length(', $left, ") <= $longest" ];
		return [ $left, $operator, $folded, 'OR (', ...$few, 'AND', $fold, $operator, $folded, ')' ];
	}

	private static function with_commas( array $nodes ): array {
		$parts = [];
		foreach ( $nodes as $node ) {
			array_push( $parts, ',', $node );
		}
		return array_slice( $parts, 1 );
	}
}
