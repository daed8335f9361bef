import org.json.XML;

/** Whether a version that is 1.30 in XML is 1.3 in JSON. */
class Versions {
    static boolean shows(String xml) {
        return xml.contains("<snakeyaml.version>1.30</snakeyaml.version>")
                && XML.toJSONObject(xml).toString().contains("\"snakeyaml.version\":1.3");
    }
}
