//! The operators of Java that a script has. One line of the table defines one; `compute` gives its meaning,
//! and `junit` its notation. Both match without a wildcard, so that the compiler reports what a new line lacks.

use crate::value::Shape;

/// The types of an operator's operands and of its result, where `T` is the shape it is used with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// `(T, T) -> T`
    Binary,
    /// `(T, int) -> T`
    Shift,
    /// `(T) -> T`
    Unary,
    /// `(T)` to this shape.
    Convert(Shape),
    /// `(T, T) -> boolean`
    Compare,
    /// `(T) -> boolean`
    Test,
    /// `(Object, Object) -> String`, where scalars are boxed.
    Concat,
    /// `(Object, Class) -> boolean`
    Instance,
    /// `(Object, Class) -> Object`
    Cast,
    /// `(T[], int) -> T`
    Element,
    /// `(T[], int, T)`
    Store,
    /// `(array) -> int`
    Length,
    /// `(array) -> array`: gives an array literal a name.
    Array,
    /// `(Throwable)`, which it throws.
    Raise,
}

/// The effect of an operator besides its result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// None: it can be removed where nothing uses the result.
    Pure,
    /// It throws for some operands.
    MayThrow,
    /// It changes its first operand, and throws for some operands.
    Writes,
    /// It always throws.
    Throws,
}

const NUMBERS: &[Shape] = &[Shape::Int, Shape::Long, Shape::Float, Shape::Double];
const WHOLE: &[Shape] = &[Shape::Int, Shape::Long];
const INT: &[Shape] = &[Shape::Int];
const BOOLEAN: &[Shape] = &[Shape::Boolean];
const OBJECT: &[Shape] = &[Shape::Reference];
const ANY: &[Shape] = &[
    Shape::Boolean,
    Shape::Byte,
    Shape::Char,
    Shape::Short,
    Shape::Int,
    Shape::Long,
    Shape::Float,
    Shape::Double,
    Shape::Reference,
];

/// One line of the table.
struct OperatorRow {
    name: &'static str,
    form: Form,
    over: &'static [Shape],
    effect: Effect,
    opposite: Option<Operator>,
}

macro_rules! operators {
    ($($variant:ident $name:literal $form:ident $(($to:ident))? $over:ident $effect:ident $(not $opposite:ident)?;)*) => {
        /// An operator of Java.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u8)]
        pub enum Operator { $($variant),* }

        impl Operator {
            /// All operators, in the order of the table.
            pub const ALL: &'static [Operator] = &[$(Operator::$variant),*];

            const fn row(self) -> OperatorRow {
                match self {
                    $(Operator::$variant => OperatorRow {
                        name: $name,
                        form: Form::$form $((Shape::$to))?,
                        over: $over,
                        effect: Effect::$effect,
                        opposite: operators!(@opposite $($opposite)?),
                    },)*
                }
            }

            /// The operator of a name.
            pub fn named(name: &str) -> Option<Operator> {
                match name {
                    $($name => Some(Operator::$variant),)*
                    _ => None,
                }
            }
        }
    };
    (@opposite) => { None };
    (@opposite $opposite:ident) => { Some(Operator::$opposite) };
}

operators! {
    // variant           name                 form            used with  effect
    Add                  "add"                Binary          NUMBERS    Pure;
    Subtract             "subtract"           Binary          NUMBERS    Pure;
    Multiply             "multiply"           Binary          NUMBERS    Pure;
    Divide               "divide"             Binary          NUMBERS    MayThrow;
    Remainder            "remainder"          Binary          NUMBERS    MayThrow;
    And                  "and"                Binary          WHOLE      Pure;
    Or                   "or"                 Binary          WHOLE      Pure;
    Xor                  "xor"                Binary          WHOLE      Pure;
    ShiftLeft            "shiftLeft"          Shift           WHOLE      Pure;
    ShiftRight           "shiftRight"         Shift           WHOLE      Pure;
    ShiftRightUnsigned   "shiftRightUnsigned" Shift           WHOLE      Pure;
    Negate               "negate"             Unary           NUMBERS    Pure;
    ToInt                "toInt"              Convert(Int)    NUMBERS    Pure;
    ToLong               "toLong"             Convert(Long)   NUMBERS    Pure;
    ToFloat              "toFloat"            Convert(Float)  NUMBERS    Pure;
    ToDouble             "toDouble"           Convert(Double) NUMBERS    Pure;
    ToByte               "toByte"             Convert(Byte)   INT        Pure;
    ToChar               "toChar"             Convert(Char)   INT        Pure;
    ToShort              "toShort"            Convert(Short)  INT        Pure;
    IsEqual              "isEqual"            Compare         NUMBERS    Pure   not IsDifferent;
    IsDifferent          "isDifferent"        Compare         NUMBERS    Pure   not IsEqual;
    IsLess               "isLess"             Compare         NUMBERS    Pure   not IsAtLeast;
    IsAtLeast            "isAtLeast"          Compare         NUMBERS    Pure   not IsLess;
    IsGreater            "isGreater"          Compare         NUMBERS    Pure   not IsAtMost;
    IsAtMost             "isAtMost"           Compare         NUMBERS    Pure   not IsGreater;
    IsSame               "isSame"             Compare         OBJECT     Pure   not IsOther;
    IsOther              "isOther"            Compare         OBJECT     Pure   not IsSame;
    IsNull               "isNull"             Test            OBJECT     Pure   not IsNotNull;
    IsNotNull            "isNotNull"          Test            OBJECT     Pure   not IsNull;
    IsTrue               "isTrue"             Test            BOOLEAN    Pure   not IsFalse;
    IsFalse              "isFalse"            Test            BOOLEAN    Pure   not IsTrue;
    IsInstance           "isInstance"         Instance        OBJECT     Pure;
    Concat               "concat"             Concat          OBJECT     MayThrow;
    Element              "element"            Element         ANY        MayThrow;
    Store                "store"              Store           ANY        Writes;
    Length               "length"             Length          OBJECT     MayThrow;
    Array                "array"              Array           OBJECT     Pure;
    Raise                "raise"              Raise           OBJECT     Throws;
    Cast                 "cast"               Cast            OBJECT     MayThrow;
}

impl Operator {
    /// The name in texts, and of the runtime's methods.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    pub const fn form(self) -> Form {
        self.row().form
    }

    /// The shapes it can be used with.
    pub const fn over(self) -> &'static [Shape] {
        self.row().over
    }

    pub const fn effect(self) -> Effect {
        self.row().effect
    }

    /// The relation that holds where this one does not; for floating-point numbers, unless one is NaN.
    pub const fn opposite(self) -> Option<Operator> {
        self.row().opposite
    }

    /// The operator used with a shape.
    pub const fn of(self, shape: Shape) -> Operation {
        Operation {
            operator: self,
            shape,
        }
    }
}

/// An operator, and the shape it is used with: the `T` of its form.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Operation {
    pub operator: Operator,
    pub shape: Shape,
}

impl Operation {
    /// All operators with all their shapes.
    pub fn all() -> impl Iterator<Item = Operation> {
        let operators = Operator::ALL.iter();
        operators.flat_map(|operator| operator.over().iter().map(|shape| operator.of(*shape)))
    }

    /// The descriptor of a method that does it: `(II)Z`, `([JI)J`.
    pub fn descriptor(self) -> String {
        let of = self.shape.descriptor();
        match self.operator.form() {
            Form::Binary => format!("({of}{of}){of}"),
            Form::Shift => format!("({of}I){of}"),
            Form::Unary => format!("({of}){of}"),
            Form::Convert(to) => format!("({of}){}", to.code()),
            Form::Compare => format!("({of}{of})Z"),
            Form::Test => format!("({of})Z"),
            Form::Concat => "(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/String;".to_owned(),
            Form::Instance => "(Ljava/lang/Object;Ljava/lang/Class;)Z".to_owned(),
            Form::Cast => "(Ljava/lang/Object;Ljava/lang/Class;)Ljava/lang/Object;".to_owned(),
            Form::Element => format!("([{of}I){of}"),
            Form::Store => format!("([{of}I{of})V"),
            Form::Length => "(Ljava/lang/Object;)I".to_owned(),
            Form::Array => "(Ljava/lang/Object;)Ljava/lang/Object;".to_owned(),
            Form::Raise => "(Ljava/lang/Throwable;)V".to_owned(),
        }
    }

    /// The shape of the result, if there is one.
    pub fn result(self) -> Option<Shape> {
        match self.operator.form() {
            Form::Binary | Form::Shift | Form::Unary | Form::Element => Some(self.shape),
            Form::Convert(to) => Some(to),
            Form::Compare | Form::Test | Form::Instance => Some(Shape::Boolean),
            Form::Concat | Form::Array | Form::Cast => Some(Shape::Reference),
            Form::Length => Some(Shape::Int),
            Form::Store | Form::Raise => None,
        }
    }

    /// The class of the result, as far as the form decides it: that of an element or array is its own.
    pub fn result_class(self) -> &'static str {
        match self.operator.form() {
            Form::Concat => "java/lang/String",
            _ => self.result().map_or("void", Shape::class_name),
        }
    }

    /// The operation whose result is true where that of this one is false.
    pub fn opposite(self) -> Option<Operation> {
        Some(self.operator.opposite()?.of(self.shape))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::method_shapes;

    #[test]
    fn names_and_opposites_lead_back() {
        for operator in Operator::ALL {
            assert_eq!(Operator::named(operator.name()), Some(*operator));
            assert!(!operator.over().is_empty());
            if let Some(opposite) = operator.opposite() {
                assert_eq!(opposite.opposite(), Some(*operator));
            }
        }
    }

    #[test]
    fn descriptors_have_the_shapes_of_the_form() {
        for operation in Operation::all() {
            let (_, result) = method_shapes(&operation.descriptor()).unwrap();
            assert_eq!(result, operation.result(), "{operation:?}");
        }
    }
}
