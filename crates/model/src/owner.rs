//! Whose code a class is, as far as its name tells: the JDK's, a build tool's, a test library's, or
//! anybody else's.
//!
//! This is the only list of package prefixes in the workspace that answers the question. Whether a
//! class of [`Owner::Other`] belongs to the program or to a library of it depends on the place it was
//! loaded from, which a name does not tell.

use std::sync::LazyLock;

/// The owner of a class, judged by its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Owner {
    /// The JDK.
    Jdk,
    /// The part of the JDK between a call and the method called: reflection and method handles.
    Reflection,
    /// A package that the JDK shares with libraries: `javax.servlet`, `com.sun.mail`.
    MaybeJdk,
    /// The runtime library of another language, called by code that its compiler adds.
    Language,
    /// The part of a build tool, an IDE or an archive that starts programs and tests.
    BuildTool,
    /// A library of build tools and agents. It is never observed unless it is named, but it may
    /// fail, and be debugged, like any program.
    BuildLibrary,
    /// A framework that runs tests.
    TestFramework,
    /// A library of assertions: its failures are verdicts of tests.
    Assertion,
    /// A library that replaces collaborators or a server in tests. It calls the program back, but
    /// starts nothing.
    Mock,
    /// Culprit's own classes in the JVM.
    Culprit,
    /// The program or a library.
    Other,
}

/// Prefixes of internal names by owner. A prefix with `/` at its end is a package with those below;
/// any other is a class with its nested classes. The longest prefix of a name decides.
const ROWS: &[(Owner, &[&str])] = &[
    (
        Owner::Jdk,
        &[
            "com/sun/beans/",
            "com/sun/crypto/",
            "com/sun/imageio/",
            "com/sun/jmx/",
            "com/sun/jndi/",
            "com/sun/management/",
            "com/sun/media/sound/",
            "com/sun/naming/",
            "com/sun/net/",
            "com/sun/nio/",
            "com/sun/org/apache/",
            "com/sun/proxy/",
            "com/sun/rowset/",
            "com/sun/security/",
            "com/sun/tools/",
            "java/",
            "javax/accessibility/",
            "javax/annotation/processing/",
            "javax/crypto/",
            "javax/imageio/",
            "javax/lang/model/",
            "javax/management/",
            "javax/naming/",
            "javax/net/",
            "javax/print/",
            "javax/rmi/",
            "javax/script/",
            "javax/security/",
            "javax/smartcardio/",
            "javax/sound/",
            "javax/sql/",
            "javax/swing/",
            "javax/tools/",
            "javax/xml/catalog/",
            "javax/xml/crypto/",
            "javax/xml/datatype/",
            "javax/xml/namespace/",
            "javax/xml/parsers/",
            "javax/xml/stream/",
            "javax/xml/transform/",
            "javax/xml/validation/",
            "javax/xml/xpath/",
            "jdk/",
            "netscape/javascript/",
            "org/ietf/jgss/",
            "org/w3c/dom/",
            "org/xml/sax/",
            "sun/",
        ],
    ),
    (
        Owner::Reflection,
        &[
            "java/lang/invoke/",
            "java/lang/reflect/",
            "jdk/internal/reflect/",
            "sun/reflect/",
        ],
    ),
    (Owner::MaybeJdk, &["com/sun/", "javax/"]),
    (
        Owner::Language,
        &[
            "kotlin/jvm/internal/",
            "org/codehaus/groovy/reflection/",
            "org/codehaus/groovy/runtime/",
            "org/codehaus/groovy/vmplugin/",
            "scala/runtime/",
        ],
    ),
    (
        Owner::BuildTool,
        &[
            // Bazel, IntelliJ, Visual Studio Code.
            "com/google/testing/junit/runner/",
            "com/intellij/rt/",
            "com/microsoft/java/test/runner/",
            // One-JAR, Quarkus.
            "com/simontuffs/onejar/",
            "io/quarkus/bootstrap/runner/",
            // Maven's Surefire and Failsafe.
            "org/apache/maven/plugin/surefire/",
            "org/apache/maven/surefire/",
            "org/apache/tools/ant/taskdefs/optional/junit/",
            "org/apache/tools/ant/taskdefs/optional/junitlauncher/",
            // Eclipse.
            "org/eclipse/jdt/internal/",
            "org/gradle/",
            // Jars and wars of Spring Boot.
            "org/springframework/boot/loader/",
            "worker/org/gradle/",
        ],
    ),
    (
        Owner::BuildLibrary,
        &[
            "org/apache/maven/",
            "org/apache/tools/ant/",
            "org/aspectj/",
            "org/codehaus/mojo/",
            "org/codehaus/plexus/",
            "org/eclipse/aether/",
            "org/eclipse/sisu/",
            "org/jacoco/",
            "org/sonatype/",
        ],
    ),
    (
        Owner::TestFramework,
        &[
            "io/kotest/",
            "junit/",
            "org/apiguardian/",
            "org/junit/",
            // The rest of this package asserts, or is not on a stack.
            "org/junit/jupiter/api/extension/",
            "org/spockframework/",
            "org/springframework/boot/test/",
            "org/springframework/test/",
            "org/testng/",
            "spock/",
        ],
    ),
    (
        Owner::Assertion,
        &[
            "com/google/common/truth/",
            "io/kotest/assertions/",
            "io/kotest/matchers/",
            "junit/framework/Assert",
            "junit/framework/AssertionFailedError",
            "junit/framework/ComparisonFailure",
            "junit/framework/TestCase",
            "kotlin/test/",
            "org/assertj/",
            "org/hamcrest/",
            "org/junit/Assert",
            "org/junit/ComparisonFailure",
            "org/junit/internal/ArrayComparisonFailure",
            "org/junit/internal/ComparisonCriteria",
            "org/junit/internal/ExactComparisonCriteria",
            "org/junit/internal/InexactComparisonCriteria",
            "org/junit/jupiter/api/",
            // Thrown by `verify`.
            "org/mockito/exceptions/",
            "org/opentest4j/",
            "org/spockframework/runtime/ConditionFailedWithExceptionError",
            "org/spockframework/runtime/ConditionNotSatisfiedError",
            "org/spockframework/runtime/SpockAssertionError",
            "org/spockframework/runtime/SpockComparisonFailure",
            "org/spockframework/runtime/SpockMultipleFailuresError",
            "org/spockframework/runtime/SpockRuntime",
            "org/spockframework/runtime/UnallowedExceptionThrownError",
            "org/spockframework/runtime/WrongExceptionThrownError",
            "org/springframework/test/util/AssertionErrors",
            "org/springframework/test/util/JsonExpectationsHelper",
            "org/springframework/test/util/JsonPathExpectationsHelper",
            "org/springframework/test/util/XmlExpectationsHelper",
            "org/springframework/test/util/XpathExpectationsHelper",
            "org/springframework/test/web/client/match/",
            "org/springframework/test/web/servlet/result/",
            "org/testng/Assert",
            "org/testng/AssertJUnit",
            "org/testng/asserts/",
        ],
    ),
    (
        Owner::Mock,
        &[
            "io/mockk/",
            "mockit/",
            "net/bytebuddy/",
            "org/easymock/",
            "org/jmock/",
            "org/mockito/",
            "org/objenesis/",
            "org/powermock/",
            "org/spockframework/mock/",
            "org/springframework/mock/",
            // Sets fields of the program by reflection, as mocks are put in place.
            "org/springframework/test/util/",
            // MockMvc, WebTestClient and the like call the program's server.
            "org/springframework/test/web/",
        ],
    ),
    (
        Owner::Culprit,
        &[
            "CulpritRunner",
            "culprit/capture/",
            "culprit/runtime/",
            "culprit/tester/",
        ],
    ),
];

/// A prefix of the table, and the longest shorter one that it begins with.
struct PrefixRow {
    prefix: &'static str,
    owner: Owner,
    parent: Option<usize>,
}

impl PrefixRow {
    fn matches(&self, class: &str) -> bool {
        class.strip_prefix(self.prefix).is_some_and(|rest| {
            self.prefix.ends_with('/') || rest.is_empty() || rest.starts_with('$')
        })
    }
}

/// All rows, in the order of their prefixes.
static TABLE: LazyLock<Vec<PrefixRow>> = LazyLock::new(|| {
    let rows = ROWS.iter();
    let rows = rows.flat_map(|(owner, prefixes)| prefixes.iter().map(|prefix| (*prefix, *owner)));
    let mut rows: Vec<(&str, Owner)> = rows.collect();
    rows.sort_unstable_by_key(|(prefix, _)| *prefix);
    let mut table: Vec<PrefixRow> = Vec::with_capacity(rows.len());
    for (prefix, owner) in rows {
        let mut parent = table.len().checked_sub(1);
        while let Some(row) = parent.and_then(|at| table.get(at)) {
            if prefix.starts_with(row.prefix) {
                break;
            }
            parent = row.parent;
        }
        table.push(PrefixRow {
            prefix,
            owner,
            parent,
        });
    }
    table
});

impl Owner {
    /// The owner of a class, given by its internal name (`java/util/List`).
    pub fn of(class: &str) -> Owner {
        let table = &*TABLE;
        let after = table.partition_point(|row| row.prefix <= class);
        // Every prefix of the name is the last row up to it, or one that this row begins with.
        let mut at = after.checked_sub(1);
        while let Some(row) = at.and_then(|at| table.get(at)) {
            if row.matches(class) {
                return row.owner;
            }
            at = row.parent;
        }
        Owner::Other
    }

    /// The owner of a class, given by the name that Java prints (`java.util.List`).
    pub fn of_java(class: &str) -> Owner {
        Owner::of(&class.replace('.', "/"))
    }

    /// Certainly the JDK.
    pub fn is_jdk(self) -> bool {
        matches!(self, Owner::Jdk | Owner::Reflection)
    }

    /// A library that only tests use.
    pub fn is_of_tests(self) -> bool {
        matches!(self, Owner::TestFramework | Owner::Assertion | Owner::Mock)
    }

    /// A library with which tests run and state what they expect. Unlike mocks, it never does a part
    /// of the work under test.
    pub fn runs_or_asserts(self) -> bool {
        matches!(self, Owner::TestFramework | Owner::Assertion)
    }

    /// Never the program's own code, wherever it was loaded from.
    pub fn is_tool(self) -> bool {
        self.is_of_tests()
            || matches!(
                self,
                Owner::BuildTool | Owner::BuildLibrary | Owner::Culprit
            )
    }

    /// Possibly the code that fails: the program, a library of it, or the library of a build tool.
    pub fn may_be_subject(self) -> bool {
        matches!(self, Owner::Other | Owner::MaybeJdk | Owner::BuildLibrary)
    }
}

/// Packages of the compilers and interpreters of other languages: what they run is not theirs.
const LANGUAGES: [&str; 11] = [
    "bsh/",
    "clojure/",
    "dotty/",
    "groovy/",
    "kotlin/",
    "org/apache/groovy/",
    "org/codehaus/groovy/",
    "org/jetbrains/kotlin/",
    "org/jruby/",
    "org/python/",
    "scala/",
];

/// True if a class, by its internal name, belongs to the compiler, the interpreter or the library of another language.
pub fn is_of_language(class: &str) -> bool {
    LANGUAGES.iter().any(|package| class.starts_with(package))
}

/// A class whose static methods assert something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Asserting {
    /// The internal name.
    pub class: &'static str,
    /// The argument with the value under test.
    pub actual: Actual,
}

/// The argument of an assertion that has the value under test.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Actual {
    /// The second one, after the expected value; or the only one.
    Second,
    /// As `Second`, but a message may come first.
    SecondAfterMessage,
    /// The first one.
    First,
    /// The first one, but a reason may come before it.
    FirstAfterReason,
}

/// The classes with static methods that assert.
pub const ASSERTING: &[Asserting] = &[
    asserts("org/junit/jupiter/api/Assertions", Actual::Second),
    asserts("org/junit/Assert", Actual::SecondAfterMessage),
    asserts("junit/framework/Assert", Actual::SecondAfterMessage),
    asserts("junit/framework/TestCase", Actual::SecondAfterMessage),
    asserts("org/testng/Assert", Actual::First),
    asserts("org/testng/AssertJUnit", Actual::SecondAfterMessage),
    asserts("org/hamcrest/MatcherAssert", Actual::FirstAfterReason),
    asserts("kotlin/test/AssertionsKt", Actual::Second),
];

/// Packages of libraries whose assertions are made step by step, on an object that holds the value.
pub const FLUENT_ASSERTIONS: [&str; 2] = ["com/google/common/truth/", "org/assertj/"];

const fn asserts(class: &'static str, actual: Actual) -> Asserting {
    Asserting { class, actual }
}

/// The class with static methods that assert, by its internal name.
pub fn asserting(class: &str) -> Option<&'static Asserting> {
    ASSERTING.iter().find(|known| known.class == class)
}

/// True for an exception that only a failed assertion throws, by its Java name.
pub fn tells_assertion(exception: &str) -> bool {
    Owner::of_java(exception) == Owner::Assertion
}

/// Packages of frameworks that make the objects of a program, besides those that replace them in tests.
const FRAMEWORKS: [&str; 5] = [
    "io/micronaut/",
    "io/quarkus/",
    "jakarta/inject/",
    "javax/inject/",
    "org/springframework/",
];

/// Parts of the names of classes that frameworks and the JDK generate beside those of a program: mocks and proxies.
pub const GENERATED: [&str; 13] = [
    ".$Proxy",
    "$$$EasyMock$",
    "$$EnhancerBy",
    "$$FastClass",
    "$$SpringCGLIB$$",
    "$ByteBuddy$",
    "$HibernateAccessOptimizer$",
    "$HibernateBasicProxy$",
    "$HibernateInstantiator$",
    "$HibernateProxy$",
    "$MockitoMock$",
    "$jMock$",
    "_$$_",
];

/// True for a class, by its internal name, that exists only in the memory of the JVM that generated it: no source can name it.
pub fn is_generated(class: &str) -> bool {
    let name = class.replace('/', ".");
    GENERATED.iter().any(|part| name.contains(part))
}

/// True for a class, by its internal name, that a mocking library calls inside a mocked method to return the answer of the mock.
pub fn returns_for_mock(class: &str) -> bool {
    class == "org/mockito/internal/creation/bytebuddy/MockMethodAdvice$ReturnValueWrapper"
}

/// Beginnings of the names of exceptions that mocking libraries throw because a mock was not called as the test wants.
const THROWN_FOR_MOCKS: [&str; 4] = [
    "io/mockk/MockKException",
    "mockit/internal/",
    "org/jmock/api/ExpectationError",
    "org/mockito/exceptions/",
];

/// True for an exception that a mocking library throws because a mock was not called as the test wants, by the internal names of its
/// class and of the class that threw it. Some libraries have no class of their own for it.
pub fn is_thrown_for_mock(class: &str, thrower: Option<&str>) -> bool {
    let is_known = THROWN_FOR_MOCKS.iter().any(|name| class.starts_with(name));
    let by_library = thrower.is_some_and(|thrower| Owner::of(thrower) == Owner::Mock);
    is_known || class == "java/lang/AssertionError" && by_library
}

/// The class with the static methods of a library that mocks final classes, by its internal name.
pub const MOCKS: &str = "org/mockito/Mockito";

/// True for a method of a mocking library that makes a copy of an object which it can give other answers, by the internal name
/// of its class, its name and its descriptor.
pub fn is_spying(class: &str, name: &str, descriptor: &str) -> bool {
    class == MOCKS && name == "spy" && descriptor == "(Ljava/lang/Object;)Ljava/lang/Object;"
}

/// The beginning of the name of the archive with the agent that this library needs to mock final classes.
pub const AGENT_OF_MOCKS: &str = "byte-buddy-agent-";

/// True for a class, by its internal name, of a framework that makes the objects of a program.
pub fn makes_objects(class: &str) -> bool {
    FRAMEWORKS.iter().any(|package| class.starts_with(package))
}

#[cfg(test)]
mod tests;
