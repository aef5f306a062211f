//! The list of a repository's workflows, for callers.

use crate::world::world;

#[test]
fn a_list_holds_five_hundred_of_all_directories_together_by_their_paths() {
    let mut world = world().file("workflows/.hidden/z.nika.yaml", "schema: nika/workflow@1\n");
    for number in 0..260 {
        for dir in ["workflows", "examples"] {
            world = world.file(&format!("{dir}/w{number:03}.nika.yaml"), "schema: nika/workflow@1\n");
        }
    }
    let listed = |query: &str| {
        let said = world.json(&["workflow_list", &format!("query={query}"), "limit=5"])["structured"].clone();
        let shown = said["workflows"].as_array().unwrap_or_else(|| panic!("a list in {said}")).len();
        shown + usize::try_from(said["more"].as_u64().unwrap_or_default()).expect("a few hundred")
    };
    // Every one of the first directory, and then the first of the second: not whichever the system names first.
    assert_eq!((listed("workflows/"), listed("examples/")), (261, 239));
    assert_eq!((listed("examples/w238"), listed("examples/w239")), (1, 0));
}
