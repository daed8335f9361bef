package bug;

import org.json.JSONArray;
import org.json.JSONException;
import org.json.JSONObject;

/** Prints a family as JSON; a person that cannot be printed is only named. */
public class Driver {
    public static void main(String[] args) {
        Person ann = new Person("ann", 41);
        Person bob = new Person("bob", 39);
        Person cid = new Person("cid", 7);
        cid.setFriend(new Person("dee", 8));
        ann.setFriend(bob);
        bob.setFriend(ann);
        JSONArray family = new JSONArray();
        for (Person person : new Person[] {cid, new Person("eve", 3), ann}) {
            try {
                family.put(new JSONObject(person));
            } catch (JSONException e) {
                family.put(new JSONObject().put("name", person.getName()));
            }
        }
        System.out.println(family.length() + " people");
        System.out.println(family.getJSONObject(0).getJSONObject("friend").get("name"));
        System.out.println(family.toString(2));
    }
}
