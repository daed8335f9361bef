# Puts a PDPage before that of the jar whose resources are a dictionary, or none: fix.sh SOURCES CLASS-PATH
set -eu
file=org/apache/pdfbox/pdmodel/PDPage.java
jar -x -f "${1%%:*}" $file
object='page.getDictionaryObject( COSName.RESOURCES )'
sed -i "s/(COSDictionary)$object/$object instanceof COSDictionary ? & : null/" $file
javac -g -nowarn -cp "$2" -d classes $file
rm -r org
